/** A Trace in one line: how many Invocations of how many Agents, how long, since when, and how many failed. */

import { Link } from "@tanstack/react-router"

import type { Trace } from "@/api/contract.gen"
import { dateTime, plural, relative } from "@/components/format"
import { span } from "@/components/instants"
import { useNow } from "@/components/useNow"
import { failures } from "@/features/trace/find"
import { axisOf } from "@/features/trace/timeAxis"

export function TraceSummary({ trace: { traceId, invocations } }: { readonly trace: Trace }) {
  const now = useNow(1000)
  const axis = axisOf(invocations, now, false)
  const agents = new Set(invocations.map((record) => record.targetAgentId)).size
  const failed = failures(invocations, now)
  const [root] = invocations
  return (
    <>
      {root ? (
        <>
          <span className="font-medium text-ink">{root.capability}</span> on{" "}
          <span className="id-text">{root.targetAgentId}</span>:{" "}
        </>
      ) : null}
      {plural(invocations.length, "Invocation")} of {plural(agents, "Agent")} in {span(axis.end - axis.start)}
      {root ? (
        <>
          , from {dateTime(root.createdAt)}{" "}
          <span className="whitespace-nowrap">({relative(root.createdAt, now)})</span>
        </>
      ) : null}
      {root && failed.length > 0 ? (
        <>
          {"; "}
          <Link
            to="/workspaces/$workspaceId/traces/$traceId"
            params={{ workspaceId: root.workspaceId, traceId }}
            search={{ invocation: failed[0] }}
            replace
            resetScroll={false}
            className="font-medium whitespace-nowrap text-bad underline underline-offset-2"
          >
            {failed.length} failed
          </Link>
        </>
      ) : null}
    </>
  )
}
