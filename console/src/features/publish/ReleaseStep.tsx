/** Making the Release of a version, and publishing it. */

import type { EndpointBinding, Release } from "@/api/contract.gen"
import { useAction } from "@/api/queries"
import { Button } from "@/components/Button"
import { ProblemNotice } from "@/components/Problems"
import { useTell } from "@/components/Toasts"

const STALE = ["readAgentOverview", "readRelease", "listReleases", "listMyAgents", "discoverAgents"] as const

interface ReleaseStepProps {
  readonly binding: EndpointBinding
  readonly release: Release | undefined
}

export function ReleaseStep({ binding, release }: ReleaseStepProps) {
  const create = useAction("createRelease", STALE)
  const verify = useAction("verifyRelease", STALE)
  const { providerId, agentId, version, bindingId } = binding
  const act = () => {
    if (release) verify.mutate({ path: { releaseId: release.releaseId } })
    else create.mutate({ path: { providerId, agentId }, body: { version, endpointBindingId: bindingId } })
  }
  const problem = create.error ?? verify.error
  return (
    <div className="max-w-2xl space-y-4">
      <p className="text-sm text-muted">
        {release
          ? "The Release was made before the endpoint was proven. It now takes over the evidence."
          : "The Release connects the Card's digest, the Binding and the evidence. Each version has one Release, and it never changes."}
      </p>
      <Button tone="primary" busy={create.isPending || verify.isPending} onClick={act}>
        {release ? "Verify the Release" : "Create the Release"}
      </Button>
      {problem ? <ProblemNotice title="The Release was not made" problem={problem} /> : null}
    </div>
  )
}

export function PublishStep({ release }: { readonly release: Release }) {
  const publish = useAction("publishRelease", STALE)
  const tell = useTell()
  return (
    <div className="max-w-2xl space-y-4">
      <p className="text-sm text-muted">
        From then on everybody finds this version and can install it. It never changes; it can be suspended or
        revoked.
      </p>
      <Button
        tone="primary"
        busy={publish.isPending}
        onClick={() =>
          publish.mutate(
            { path: { releaseId: release.releaseId } },
            { onSuccess: () => tell(`${release.agentId} ${release.version} is published.`) },
          )
        }
      >
        Publish
      </Button>
      {publish.isError ? (
        <ProblemNotice title="The Release was not published" problem={publish.error} />
      ) : null}
    </div>
  )
}
