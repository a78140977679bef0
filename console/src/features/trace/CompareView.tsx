/** Two Traces side by side on axes of one length, and what differs Skill by Skill. */

import { useQuery } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import { useMemo } from "react"

import type { Trace } from "@/api/contract.gen"
import { Loaded } from "@/components/Loaded"
import { Panel } from "@/components/Panel"
import { shortened } from "@/components/format"
import { span } from "@/components/instants"
import { useNow } from "@/components/useNow"
import { agentColors } from "@/features/trace/agentColors"
import { CompareTable } from "@/features/trace/CompareTable"
import type { Branch } from "@/features/trace/lineage"
import { liveTrace } from "@/features/trace/liveTrace"
import { selfSpans } from "@/features/trace/timing"
import { TraceSummary } from "@/features/trace/TraceSummary"
import { useLineage } from "@/features/trace/useLineage"
import { Waterfall } from "@/features/trace/Waterfall"
import { axisOf } from "@/features/trace/timeAxis"

interface CompareViewProps {
  readonly workspaceId: string
  readonly trace: Trace
  readonly otherId: string
}

export function CompareView({ workspaceId, trace, otherId }: CompareViewProps) {
  const other = useQuery(liveTrace(workspaceId, otherId))
  return (
    <Loaded query={other} what="The other Trace">
      {(found) => <Pair left={trace} right={found} />}
    </Loaded>
  )
}

function Pair({ left, right }: { readonly left: Trace; readonly right: Trace }) {
  const now = useNow(1000)
  const [one, two] = [left, right].map((trace) => axisOf(trace.invocations, now, false))
  const lengths = [one, two].map((axis) => (axis === undefined ? 0 : axis.end - axis.start))
  const longest = Math.max(...lengths)
  const [first = 0, second = 0] = lengths
  // One Agent has one colour in both.
  const colors = useMemo(() => agentColors([...left.invocations, ...right.invocations]), [left, right])
  return (
    <div className="space-y-4">
      <p>
        The second took{" "}
        <strong className="font-semibold">
          {first === second
            ? "as long"
            : `${span(Math.abs(second - first))} ${second > first ? "longer" : "less"}`}
        </strong>
        .
      </p>
      <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
        <Side name="First" trace={left} length={longest} colors={colors} now={now} />
        <Side name="Second" trace={right} length={longest} colors={colors} now={now} />
      </div>
      <Panel title="By Skill" description="The greatest difference of self time first." padded={false}>
        <CompareTable left={left.invocations} right={right.invocations} colors={colors} now={now} />
      </Panel>
    </div>
  )
}

interface SideProps {
  readonly name: string
  readonly trace: Trace
  /** Of both axes, in microseconds. */
  readonly length: number
  readonly colors: ReadonlyMap<string, string>
  readonly now: number
}

const NOTHING: ReadonlySet<string> = new Set()

function Side({ name, trace, length, colors, now }: SideProps) {
  const { traceId, invocations } = trace
  const navigate = useNavigate()
  const lineage = useLineage(invocations, undefined)
  const self = useMemo(() => selfSpans(lineage.tree, now), [lineage.tree, now])
  const { start } = axisOf(invocations, now, false)
  const workspaceId = invocations[0]?.workspaceId ?? ""
  const colorOf = ({ record }: Branch) => colors.get(record.targetAgentId) ?? "var(--control)"
  return (
    <section aria-label={`${name} Trace`} className="min-w-0 space-y-2">
      <h2 className="text-base font-semibold">
        {name}:{" "}
        <Link
          to="/workspaces/$workspaceId/traces/$traceId"
          params={{ workspaceId, traceId }}
          className="id-text text-accent-strong underline-offset-2 hover:underline"
        >
          {shortened(traceId)}
        </Link>
      </h2>
      <p className="text-sm text-muted">
        <TraceSummary trace={trace} />
      </p>
      <Waterfall
        label={`${name} waterfall`}
        className="max-h-[60dvh]"
        lineage={lineage}
        drawn={{ axis: { start, end: start + length }, origin: start, now, self, colorOf }}
        chosen={undefined}
        events={[]}
        found={NOTHING}
        onChoose={(invocation) =>
          void navigate({
            to: "/workspaces/$workspaceId/traces/$traceId",
            params: { workspaceId, traceId },
            search: { invocation },
          })
        }
      />
    </section>
  )
}
