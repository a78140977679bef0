/** Everything the account owns: each Agent with all its versions, their states, and the next thing to do. */

import { useQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { Package, Rocket } from "lucide-react"
import { useState } from "react"

import type { OwnedAgent } from "@/api/contract.gen"
import { ownAgents } from "@/api/queries"
import { Button } from "@/components/Button"
import { EmptyState } from "@/components/EmptyState"
import { Field, Select, TextInput } from "@/components/Field"
import { Loaded } from "@/components/Loaded"
import { Page } from "@/components/Page"
import { plural } from "@/components/format"
import { OwnAgentPanel } from "@/features/my-agents/OwnAgentPanel"
import { meantBy, NO_PROVIDER, providersOf } from "@/features/my-agents/ownAgents"

const route = getRouteApi("/console/my-agents")

export function MyAgentsPage() {
  const agents = useQuery(ownAgents())
  return (
    <Page
      title="My Agents"
      description="Every Agent that you own, of every provider, with all its versions."
      actions={
        <Button asChild tone="primary">
          <Link to="/publish">
            <Rocket aria-hidden />
            Publish a new Agent
          </Link>
        </Button>
      }
    >
      <Loaded query={agents} what="Agents">
        {(all) => (all.length === 0 ? <NoAgent /> : <OwnAgents agents={all} />)}
      </Loaded>
    </Page>
  )
}

function OwnAgents({ agents }: { readonly agents: ReadonlyArray<OwnedAgent> }) {
  const { provider } = route.useSearch()
  const navigate = route.useNavigate()
  const [typed, setTyped] = useState("")
  const shown = meantBy(agents, provider, typed)
  return (
    <div className="space-y-5">
      <div className="grid grid-cols-2 items-end gap-3 sm:flex">
        <Field label="Filter" className="sm:w-72">
          {(control) => (
            <TextInput
              {...control}
              type="search"
              placeholder="Name or id"
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          )}
        </Field>
        <Field label="Provider" className="sm:w-56">
          {(control) => (
            <Select
              {...control}
              value={provider ?? ""}
              onChange={(event) =>
                void navigate({ search: { provider: event.target.value || undefined }, replace: true })
              }
            >
              <option value="">All providers</option>
              {[...new Set([...providersOf(agents), ...(provider ? [provider] : [])])].map((id) => (
                <option key={id} value={id}>
                  {id === NO_PROVIDER ? "No provider yet" : id}
                </option>
              ))}
            </Select>
          )}
        </Field>
      </div>
      <p role="status" className="text-sm text-muted">
        {shown.length === agents.length ? "" : `${shown.length} of `}
        {plural(agents.length, "Agent")}
      </p>
      {shown.length === 0 ? (
        <EmptyState
          icon={<Package aria-hidden />}
          title="None of your Agents matches."
          action={
            <Button
              onClick={() => {
                setTyped("")
                void navigate({ search: {}, replace: true })
              }}
            >
              Show all
            </Button>
          }
        />
      ) : (
        shown.map((agent) => <OwnAgentPanel key={agent.agentId} agent={agent} />)
      )}
    </div>
  )
}

function NoAgent() {
  return (
    <EmptyState
      icon={<Package aria-hidden />}
      title="You have no Agent yet."
      action={
        <Button asChild tone="primary">
          <Link to="/publish">Publish an Agent</Link>
        </Button>
      }
    >
      Write a Card, prove the endpoint and publish the Release. One page guides you.
    </EmptyState>
  )
}
