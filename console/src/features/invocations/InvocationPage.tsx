/** One Invocation: every fact the Ledger has of it, its events, how it ended, and who called whom. */

import { useQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { FlaskConical, Waypoints } from "lucide-react"

import type { InvocationDetail, InvocationRecord } from "@/api/contract.gen"
import { read } from "@/api/queries"
import { Button } from "@/components/Button"
import { Loaded } from "@/components/Loaded"
import { Page } from "@/components/Page"
import { Panel } from "@/components/Panel"
import { useNow } from "@/components/useNow"
import { EventList } from "@/domain/EventList"
import { InvocationFacts } from "@/domain/InvocationFacts"
import { InvocationOutcome } from "@/domain/InvocationOutcome"
import { StateBadge } from "@/domain/StateBadge"
import { WorkspaceCrumbs } from "@/domain/WorkspaceCrumbs"
import { isLive, stateOf } from "@/domain/invocationState"
import { Family } from "@/features/invocations/Family"
import { LedgerCheck } from "@/features/invocations/LedgerCheck"

const route = getRouteApi("/console/workspaces/$workspaceId/invocations/$invocationId")
const REFRESH_MILLISECONDS = 1000

export function InvocationPage() {
  const { workspaceId, invocationId } = route.useParams()
  const detail = useQuery({
    ...read("readInvocation", { path: { workspaceId, invocationId } }),
    refetchInterval: ({ state }) =>
      state.data !== undefined && isLive(state.data.invocation, Date.now()) && REFRESH_MILLISECONDS,
  })
  const record = detail.data?.invocation
  return (
    <Page
      title={record ? `${record.capability} on ${record.targetAgentId}` : "Invocation"}
      heading={record ? <Heading record={record} /> : undefined}
      above={<WorkspaceCrumbs workspaceId={workspaceId} list="Invocations" />}
      actions={record ? <Actions record={record} /> : undefined}
    >
      <Loaded query={detail} what="Invocation">
        {(found) => <Detail detail={found} />}
      </Loaded>
    </Page>
  )
}

function Detail({ detail: { invocation, events } }: { readonly detail: InvocationDetail }) {
  const now = useNow(1000)
  const state = stateOf(invocation, now)
  return (
    <div className="space-y-4">
      <InvocationOutcome record={invocation} state={state} />
      <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <div className="space-y-4">
          <Panel title="Facts">
            <InvocationFacts record={invocation} state={state} />
          </Panel>
          <Panel
            title="Lineage"
            description="The Invocation it was called from, and those it made."
            padded={false}
          >
            <Family record={invocation} now={now} />
          </Panel>
        </div>
        <div className="space-y-4">
          <Panel title="Events" description="From the Ledger: times and numbers, never content.">
            <EventList events={events} />
          </Panel>
          {isLive(invocation, now) ? null : (
            <Panel title="Check" description="Was this record changed? Your browser can find out by itself.">
              <LedgerCheck workspaceId={invocation.workspaceId} invocationId={invocation.invocationId} />
            </Panel>
          )}
        </div>
      </div>
    </div>
  )
}

function Heading({ record }: { readonly record: InvocationRecord }) {
  const now = useNow(1000)
  return (
    <span className="inline-flex flex-wrap items-center gap-x-3 gap-y-1">
      <span>
        {record.capability} <span className="font-normal text-muted">on {record.targetAgentId}</span>
      </span>
      <StateBadge state={stateOf(record, now)} />
    </span>
  )
}

function Actions({ record }: { readonly record: InvocationRecord }) {
  const { workspaceId, traceId, invocationId, targetAgentId, capability } = record
  return (
    <>
      <Button asChild>
        <Link
          to="/workspaces/$workspaceId/playground"
          params={{ workspaceId }}
          search={{ agent: targetAgentId, capability }}
        >
          <FlaskConical aria-hidden />
          Invoke again
        </Link>
      </Button>
      <Button asChild tone="primary">
        <Link
          to="/workspaces/$workspaceId/traces/$traceId"
          params={{ workspaceId, traceId }}
          search={{ invocation: invocationId }}
        >
          <Waypoints aria-hidden />
          Open the Trace
        </Link>
      </Button>
    </>
  )
}
