/** One Trace: a waterfall and a call graph of its Invocations, and the facts of the one that is looked at. */

import { useQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { Download } from "lucide-react"
import type { Trace } from "@/api/contract.gen"
import { read } from "@/api/queries"
import { Button } from "@/components/Button"
import { Identifier } from "@/components/Identifier"
import { Loaded } from "@/components/Loaded"
import { Page } from "@/components/Page"
import { dateTime, plural } from "@/components/format"
import { span } from "@/components/instants"
import { useNow } from "@/components/useNow"
import { isLive, isFailure, stateOf } from "@/domain/invocationState"
import { TraceViews } from "@/features/trace/TraceViews"
import { downloadJson } from "@/features/trace/download"
import { axisOf } from "@/features/trace/waterfall"

const route = getRouteApi("/console/workspaces/$workspaceId/traces/$traceId")
const REFRESH_MILLISECONDS = 1000

export function TracePage() {
  const { workspaceId, traceId } = route.useParams()
  const trace = useQuery({
    ...read("readTrace", { path: { workspaceId, traceId } }),
    refetchInterval: ({ state }) =>
      state.data?.invocations.some((record) => isLive(record, Date.now())) === true && REFRESH_MILLISECONDS,
  })
  return (
    <Page
      title="Trace"
      heading={
        <span className="inline-flex flex-wrap items-center gap-x-2">
          Trace <Identifier value={traceId} what="trace id" />
        </span>
      }
      above={
        <Link to="/workspaces/$workspaceId/invocations" params={{ workspaceId }} className="hover:text-ink">
          Invocations
        </Link>
      }
      description={trace.data ? <Summary trace={trace.data} /> : undefined}
      actions={
        trace.data ? (
          <Button onClick={() => downloadJson(`trace-${traceId}.json`, trace.data)}>
            <Download aria-hidden />
            Download JSON
          </Button>
        ) : undefined
      }
    >
      <Loaded query={trace} what="Trace">
        {(found) => <TraceViews trace={found} />}
      </Loaded>
    </Page>
  )
}

function Summary({ trace: { invocations } }: { readonly trace: Trace }) {
  const now = useNow(1000)
  const axis = axisOf(invocations, now, false)
  const agents = new Set(invocations.map((record) => record.targetAgentId)).size
  const failed = invocations.filter((record) => isFailure(stateOf(record, now))).length
  return (
    <>
      {plural(invocations.length, "Invocation")} of {plural(agents, "Agent")} in {span(axis.end - axis.start)}
      {invocations[0] ? `, from ${dateTime(invocations[0].createdAt)}` : ""}
      {failed > 0 ? (
        <>
          {"; "}
          <span className="font-medium text-bad">{failed} failed</span>
        </>
      ) : null}
    </>
  )
}
