/** Publishing one version: the whole path on one page, filled in from the server's state. */

import { useQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"

import type { CatalogEntry } from "@/api/contract.gen"
import { agentVersions, me } from "@/api/queries"
import { Button } from "@/components/Button"
import { Loaded } from "@/components/Loaded"
import { Page } from "@/components/Page"
import { ProblemNotice } from "@/components/Problems"
import { Loading } from "@/components/Skeleton"
import { preferred } from "@/config/preferences"
import { CardStep } from "@/features/publish/CardStep"
import { PublicationSteps } from "@/features/publish/PublicationSteps"
import { Step } from "@/features/publish/Step"
import { newCard, nextCard } from "@/features/publish/cardDraft"

const route = getRouteApi("/console/publish")

export function PublishPage() {
  const { agent, version } = route.useSearch()
  const started = agent !== undefined && version !== undefined
  return (
    <Page
      title="Publish"
      heading={started ? `Publish ${agent} ${version}` : "Publish an Agent"}
      description={
        started
          ? "The platform keeps every step. You can leave and come back, or send this address to a colleague who uses the same account."
          : "From the Card to a published Release. The platform keeps every step, so you can leave and come back."
      }
      actions={
        started ? (
          <Button asChild>
            <Link to="/publish">Publish another</Link>
          </Button>
        ) : undefined
      }
    >
      {started ? <Continued agentId={agent} version={version} /> : <Beginning />}
    </Page>
  )
}

/** No version yet: the Card is written here, from scratch or from an earlier version. */
function Beginning() {
  const { agent, from } = route.useSearch()
  const account = useQuery(me())
  const earlier = useQuery({
    ...agentVersions(agent ?? ""),
    enabled: agent !== undefined && from !== undefined,
  })
  if (earlier.isError)
    return <ProblemNotice title="The earlier version could not be loaded" problem={earlier.error} />
  if ((agent !== undefined && from !== undefined && earlier.data === undefined) || account.isPending) {
    return <Loading what="the Card" rows={2} />
  }
  const base = earlier.data?.versions.find((entry) => entry.version === from)
  const ownerId = account.data?.principalId ?? ""
  return (
    <ol>
      <Step number={1} title="Card" state="current">
        <CardStep
          start={base === undefined ? newCard(ownerId) : nextCard(base.card)}
          ownerKnown={ownerId !== ""}
        />
      </Step>
      {["Endpoint Binding", "Proof", "Release", "Published"].map((title, index) => (
        <Step key={title} number={index + 2} title={title} state="waiting" />
      ))}
    </ol>
  )
}

function Continued({ agentId, version }: { readonly agentId: string; readonly version: string }) {
  const overview = useQuery(agentVersions(agentId))
  return (
    <Loaded query={overview} what="Card">
      {(agent) => {
        const entry = agent.versions.find((each) => each.version === version)
        return entry === undefined ? <NoSuchVersion agentId={agentId} /> : <KnownVersion entry={entry} />
      }}
    </Loaded>
  )
}

function KnownVersion({ entry }: { readonly entry: CatalogEntry }) {
  const { provider } = route.useSearch()
  return (
    <PublicationSteps entry={entry} providerId={provider ?? preferred("provider") ?? entry.card.owner.id} />
  )
}

function NoSuchVersion({ agentId }: { readonly agentId: string }) {
  return (
    <ProblemNotice
      problem={new Error("This version is not registered, or is not yours to see.")}
      action={
        <Button asChild size="small">
          <Link to="/agents/$agentId" params={{ agentId }}>
            Open the Agent
          </Link>
        </Button>
      }
    />
  )
}
