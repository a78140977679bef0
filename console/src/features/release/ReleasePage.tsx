/** One Release: its contents, its history, and for its provider the actions that end it. */

import { useQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { useState } from "react"

import type { Release } from "@/api/contract.gen"
import { read } from "@/api/queries"
import { Breadcrumbs } from "@/components/Breadcrumbs"
import { Button } from "@/components/Button"
import { Facts } from "@/components/Facts"
import { Identifier } from "@/components/Identifier"
import { Loaded } from "@/components/Loaded"
import { Page } from "@/components/Page"
import { Panel } from "@/components/Panel"
import { StateBadge } from "@/domain/StateBadge"
import { EndDialog, type Ending } from "@/features/release/EndDialog"
import { History } from "@/features/release/History"

const route = getRouteApi("/console/releases/$releaseId")

export function ReleasePage() {
  const { releaseId } = route.useParams()
  const release = useQuery(read("readRelease", { path: { releaseId } }))
  if (release.data === undefined) {
    return (
      <Page title="Release">
        <Loaded query={release} what="Release">
          {() => null}
        </Loaded>
      </Page>
    )
  }
  return <KnownRelease release={release.data} />
}

function KnownRelease({ release }: { readonly release: Release }) {
  const { agentId, version } = release
  return (
    <Page
      title={`Release of ${agentId} ${version}`}
      above={
        <Breadcrumbs>
          <Link to="/agents/$agentId" params={{ agentId }} className="id-text">
            {agentId}
          </Link>
          <span>Release</span>
        </Breadcrumbs>
      }
      heading={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
          <Link
            to="/agents/$agentId"
            params={{ agentId }}
            search={{ version }}
            className="hover:text-accent-strong hover:underline"
          >
            {agentId} {version}
          </Link>
          <StateBadge state={release.state} />
        </span>
      }
      actions={<OwnerActions release={release} />}
    >
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <Panel title="Contents" description="These facts never change.">
          <Facts
            facts={[
              ["Release id", <Identifier key="" whole value={release.releaseId} what="Release id" />],
              ["Card digest", <Identifier key="" whole value={release.cardDigest} what="Card digest" />],
              [
                "Provider",
                <span key="" className="id-text">
                  {release.providerId}
                </span>,
              ],
              [
                "Endpoint",
                <span key="" className="id-text">
                  {release.endpointOrigin + release.endpointPath}
                </span>,
              ],
              ["Binding", <Identifier key="" whole value={release.endpointBindingId} what="Binding id" />],
              [
                "Proven by",
                <span key="" className="id-text">
                  {release.verificationMethod}
                </span>,
              ],
              [
                "Evidence digest",
                release.verificationEvidenceDigest ? (
                  <Identifier
                    key=""
                    whole
                    value={release.verificationEvidenceDigest}
                    what="evidence digest"
                  />
                ) : undefined,
              ],
            ]}
          />
        </Panel>
        <History release={release} />
      </div>
    </Page>
  )
}

/** Offered to the provider alone: a list that only its owner may read says who that is. */
function OwnerActions({ release }: { readonly release: Release }) {
  const { providerId, agentId, version, state } = release
  const owned = useQuery(read("listReleases", { path: { providerId }, query: { agentId, limit: 1 } }))
  const [ending, setEnding] = useState<Ending>()
  if (!owned.isSuccess) return null
  const unpublished = state === "pending_verification" || state === "verified"
  return (
    <>
      {unpublished ? (
        <Button asChild tone="primary">
          <Link to="/publish" search={{ agent: agentId, version, provider: providerId }}>
            Continue publishing
          </Link>
        </Button>
      ) : (
        <Button asChild>
          <Link to="/publish" search={{ agent: agentId, from: version, provider: providerId }}>
            New version
          </Link>
        </Button>
      )}
      {state === "verified" || state === "published" ? (
        <Button tone="danger" onClick={() => setEnding("suspend")}>
          Suspend
        </Button>
      ) : null}
      {state === "verified" || state === "published" || state === "suspended" ? (
        <Button tone="danger" onClick={() => setEnding("revoke")}>
          Revoke
        </Button>
      ) : null}
      {ending ? <EndDialog release={release} ending={ending} onClose={() => setEnding(undefined)} /> : null}
    </>
  )
}
