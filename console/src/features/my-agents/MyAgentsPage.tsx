/** A provider's own Agents: every version, its state, and the next thing to do with it. */

import { useInfiniteQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { Package, Rocket } from "lucide-react"

import { useCurrentWorkspace } from "@/api/currentWorkspace"
import { itemsOf, pages } from "@/api/queries"
import { Button } from "@/components/Button"
import { EmptyState } from "@/components/EmptyState"
import { LoadMore } from "@/components/LoadMore"
import { Page } from "@/components/Page"
import { ProblemNotice } from "@/components/Problems"
import { Loading } from "@/components/Skeleton"
import { preferred } from "@/config/preferences"
import { ProviderChoice } from "@/domain/ProviderChoice"
import { OwnAgentPanel } from "@/features/my-agents/OwnAgentPanel"
import { byAgent } from "@/features/my-agents/groups"

const route = getRouteApi("/console/my-agents")

export function MyAgentsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { workspaces, isPending } = useCurrentWorkspace()
  const provider = search.provider ?? preferred("provider") ?? workspaces[0]?.ownerId
  return (
    <Page
      title="My Agents"
      description="Your Agents of one provider, and those that belong to no provider yet."
      actions={
        <Button asChild tone="primary">
          <Link to="/publish" search={{ provider }}>
            <Rocket aria-hidden />
            Publish a new Agent
          </Link>
        </Button>
      }
    >
      <div className="space-y-5">
        {isPending ? null : (
          <ProviderChoice
            key={provider}
            providerId={provider}
            onChoose={(chosen) => void navigate({ search: { provider: chosen }, replace: true })}
          />
        )}
        {provider === undefined ? (
          isPending ? (
            <Loading what="Agents" />
          ) : (
            <Unnamed />
          )
        ) : (
          <OwnAgents providerId={provider} />
        )}
      </div>
    </Page>
  )
}

function OwnAgents({ providerId }: { readonly providerId: string }) {
  const list = useInfiniteQuery(pages("listProviderAgents", { path: { providerId }, query: {} }))
  if (list.isError && list.data === undefined) {
    return (
      <ProblemNotice
        title="Your Agents could not be loaded"
        problem={list.error}
        onRetry={() => void list.refetch()}
      />
    )
  }
  if (list.data === undefined) return <Loading what="Agents" />
  const agents = byAgent(itemsOf<"listProviderAgents">(list.data))
  if (agents.length === 0) {
    return (
      <EmptyState
        icon={<Package aria-hidden />}
        title={`You have no Agent with the provider ${providerId}.`}
        action={
          <Button asChild tone="primary">
            <Link to="/publish" search={{ provider: providerId }}>
              Publish an Agent
            </Link>
          </Button>
        }
      >
        Write a Card, prove the endpoint and publish the Release. One page guides you.
      </EmptyState>
    )
  }
  return (
    <div className="space-y-5">
      {agents.map((agent) => (
        <OwnAgentPanel key={agent.agentId} agent={agent} providerId={providerId} />
      ))}
      <LoadMore list={list} />
    </div>
  )
}

function Unnamed() {
  return (
    <EmptyState icon={<Package aria-hidden />} title="Which provider are you?">
      Enter the provider id that you publish under. If you have not published yet, start with Publish.
    </EmptyState>
  )
}
