/** The steps after the Card: Binding, proof, Release, published. */

import { queryOptions, useQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"

import type { CatalogEntry, EndpointBinding, Release } from "@/api/contract.gen"
import { Problem } from "@/api/problem"
import { everyItem, read } from "@/api/queries"
import { Button } from "@/components/Button"
import { Identifier } from "@/components/Identifier"
import { ProblemNotice } from "@/components/Problems"
import { Loading } from "@/components/Skeleton"
import { Time } from "@/components/Time"
import { ProviderChoice } from "@/domain/ProviderChoice"
import { BindingStep } from "@/features/publish/BindingStep"
import { ProofStep } from "@/features/publish/ProofStep"
import { Published } from "@/features/publish/Published"
import { PublishStep, ReleaseStep } from "@/features/publish/ReleaseStep"
import { Step } from "@/features/publish/Step"
import { progressOf, type Progress } from "@/features/publish/progress"

const route = getRouteApi("/console/publish")

interface PublicationStepsProps {
  readonly entry: CatalogEntry
  readonly providerId: string
}

export function PublicationSteps({ entry, providerId }: PublicationStepsProps) {
  const release = useQuery({
    ...read("readRelease", { path: { releaseId: entry.release?.releaseId ?? "" } }),
    enabled: entry.release !== null,
  })
  const owner = release.data?.providerId ?? providerId
  const bindings = useQuery(bindingsOf(owner, entry.agentId))
  const problem = release.error ?? bindings.error
  if (problem) return <Blocked problem={problem} providerId={owner} />
  if ((entry.release !== null && release.data === undefined) || bindings.data === undefined) {
    return <Loading what="the publication" rows={3} />
  }
  const own = bindings.data.filter(({ version }) => version === entry.version)
  const facts = { entry, bindings: own, release: release.data }
  return <Steps entry={entry} providerId={owner} release={release.data} progress={progressOf(facts)} />
}

/** The Bindings of an Agent; none under a provider id that nobody has bound anything under yet. */
function bindingsOf(providerId: string, agentId: string) {
  const input = { path: { providerId }, query: { agentId } }
  return queryOptions<ReadonlyArray<EndpointBinding>, Problem>({
    queryKey: ["listEndpointBindings", input, "or none"],
    queryFn: async ({ signal }) => {
      try {
        return await everyItem("listEndpointBindings", input, signal)
      } catch (problem) {
        if (problem instanceof Problem && problem.code === "NOT_FOUND") return []
        throw problem
      }
    },
  })
}

interface StepsProps extends PublicationStepsProps {
  readonly release: Release | undefined
  readonly progress: Progress
}

function Steps({ entry, providerId, release, progress }: StepsProps) {
  const { steps, binding } = progress
  return (
    <>
      {progress.ended ? <Ended entry={entry} ended={progress.ended} /> : null}
      <ol>
        <Step number={1} title="Card" state="done" summary={<CardSummary entry={entry} />} />
        <Step
          number={2}
          title="Endpoint Binding"
          state={steps.binding}
          summary={<BindingSummary binding={binding} />}
        >
          {progress.ended ? null : <BindingStep entry={entry} providerId={providerId} />}
        </Step>
        <Step number={3} title="Proof" state={steps.proof} summary={<ProofSummary binding={binding} />}>
          {binding && !progress.ended ? (
            <ProofStep key={binding.bindingId} entry={entry} binding={binding} />
          ) : null}
        </Step>
        <Step
          number={4}
          title="Release"
          state={steps.release}
          summary={release ? <ReleaseSummary release={release} /> : null}
        >
          {binding && !progress.ended ? <ReleaseStep binding={binding} release={release} /> : null}
        </Step>
        <Step
          number={5}
          title="Published"
          state={steps.publish}
          summary={release ? <Published entry={entry} release={release} /> : null}
        >
          {release && !progress.ended ? <PublishStep release={release} /> : null}
        </Step>
      </ol>
    </>
  )
}

function CardSummary({ entry }: { readonly entry: CatalogEntry }) {
  return (
    <span className="flex flex-wrap items-center gap-x-4 gap-y-1">
      <span>
        {entry.card.name} <span className="id-text">{entry.version}</span>, registered{" "}
        <Time at={entry.registeredAt} />
      </span>
      <span className="inline-flex items-center gap-1">
        digest <Identifier value={entry.cardDigest} what="Card digest" />
      </span>
    </span>
  )
}

function BindingSummary({ binding }: { readonly binding: EndpointBinding | undefined }) {
  if (binding === undefined) return null
  return (
    <>
      <span className="id-text">{binding.endpoint}</span> for the provider{" "}
      <span className="id-text">{binding.providerId}</span>
    </>
  )
}

function ProofSummary({ binding }: { readonly binding: EndpointBinding | undefined }) {
  if (binding?.verifiedAt === undefined || binding.verificationEvidenceDigest === undefined) return null
  return (
    <span className="flex flex-wrap items-center gap-x-4 gap-y-1">
      <span>
        proven <Time at={binding.verifiedAt} />; the proof may be removed from the Agent
      </span>
      <span className="inline-flex items-center gap-1">
        evidence <Identifier value={binding.verificationEvidenceDigest} what="evidence digest" />
      </span>
    </span>
  )
}

function ReleaseSummary({ release }: { readonly release: Release }) {
  return <Identifier value={release.releaseId} what="Release id" />
}

function Ended({ entry, ended }: { readonly entry: CatalogEntry; readonly ended: string }) {
  return (
    <div role="status" className="mb-5 rounded-lg bg-warn-soft p-4 text-sm text-warn">
      <p className="font-semibold">This version is {ended} and stays so.</p>
      <p className="mt-1">
        To offer the Agent again, publish a new version. Its users then install that one.
      </p>
      <Button asChild size="small" className="mt-3">
        <Link to="/publish" search={{ agent: entry.agentId, from: entry.version }}>
          Start a new version from this one
        </Link>
      </Button>
    </div>
  )
}

function Blocked({ problem, providerId }: { readonly problem: Problem; readonly providerId: string }) {
  const navigate = route.useNavigate()
  if (problem.code !== "FORBIDDEN")
    return <ProblemNotice title="The publication could not be loaded" problem={problem} />
  return (
    <div className="space-y-5">
      <ProblemNotice title={`The provider id ${providerId} belongs to somebody else`} problem={problem} />
      <ProviderChoice
        providerId={providerId}
        onChoose={(provider) => void navigate({ search: (kept) => ({ ...kept, provider }), replace: true })}
      />
    </div>
  )
}
