/** The rows of the list of Traces: how the root ended, what was called, what failed, how long it took. */

import { Link } from "@tanstack/react-router"
import { useMemo } from "react"

import type { TraceItem } from "@/api/contract.gen"
import type { TraceRow } from "@/api/lists"
import { Badge } from "@/components/Badge"
import { DataTable, type Column } from "@/components/DataTable"
import { TimeOfRow } from "@/components/Time"
import { count, duration, plural } from "@/components/format"
import { useWide } from "@/components/useWide"
import { StateBadge } from "@/domain/StateBadge"
import { failureText, isEnded, stateOf } from "@/domain/invocationState"
import { FULL_HEIGHT, ROW_LINK, SoFar, TwoLines } from "@/features/invocations/cells"

interface TraceTableProps {
  readonly rows: ReadonlyArray<TraceRow>
  readonly now: number
  readonly onEnd?: () => void
  readonly loadingMore: boolean
}

export function TraceTable({ rows, now, onEnd, loadingMore }: TraceTableProps) {
  const wide = useWide()
  const columns = useMemo(() => (wide ? wideColumns(now) : narrowColumns(now)), [wide, now])
  return (
    <DataTable
      key={String(wide)}
      label="Traces"
      columns={columns}
      rows={rows}
      keyOf={(row) => row.invocationId}
      rowHeight={52}
      onEnd={onEnd}
      loadingMore={loadingMore}
      className={FULL_HEIGHT}
    />
  )
}

function wideColumns(now: number): ReadonlyArray<Column<TraceRow>> {
  return [
    { name: "Status", width: "7rem", cell: ({ item }) => <State item={item} now={now} /> },
    { name: "Skill, Agent", width: "minmax(0,2fr)", cell: ({ item }) => <RootCell item={item} /> },
    { name: "Failures", width: "minmax(0,2fr)", cell: ({ item }) => <Failures item={item} /> },
    { name: "Calls", width: "minmax(6rem,1fr)", cell: ({ item }) => <Calls item={item} /> },
    {
      name: "Duration",
      width: "5.5rem",
      align: "end",
      cell: ({ item }) => <Duration item={item} now={now} />,
    },
    {
      name: "Started",
      width: "7.5rem",
      align: "end",
      cell: ({ item }) => <TimeOfRow at={item.root.createdAt} now={now} />,
    },
  ]
}

function narrowColumns(now: number): ReadonlyArray<Column<TraceRow>> {
  return [
    { name: "Status", width: "6.5rem", cell: ({ item }) => <State item={item} now={now} withFailures /> },
    { name: "Skill, Agent", width: "minmax(0,1fr)", cell: ({ item }) => <RootCell item={item} withCode /> },
    {
      name: "Duration",
      width: "4.75rem",
      align: "end",
      cell: ({ item }) => (
        <TwoLines below={<TimeOfRow at={item.root.createdAt} now={now} isShort />}>
          <Duration item={item} now={now} isShort />
        </TwoLines>
      ),
    },
  ]
}

interface CellProps {
  readonly item: TraceItem
  readonly now: number
}

/** Of the root: what its caller got. */
function State({ item, now, withFailures = false }: CellProps & { readonly withFailures?: boolean }) {
  const badge = <StateBadge state={stateOf(item.root, now)} title={failureText(item.root)} />
  if (!withFailures || item.invocations === 1) return badge
  const failed = <span className="text-bad">{count(item.failures)} failed</span>
  return <TwoLines below={item.failures > 0 ? failed : plural(item.invocations, "call")}>{badge}</TwoLines>
}

interface RootCellProps {
  readonly item: TraceItem
  /** The most frequent code in place of the Agent, where there is no column for it. */
  readonly withCode?: boolean
}

/** Its link covers the whole row. */
function RootCell({ item: { traceId, root, errors }, withCode = false }: RootCellProps) {
  const { workspaceId, targetAgentId, agentCardVersion } = root
  const [error] = errors
  const agent = (
    <span className="font-mono">
      {targetAgentId} {agentCardVersion}
    </span>
  )
  const code = <span className="font-mono text-bad">{error?.errorCode}</span>
  return (
    <TwoLines below={withCode && error !== undefined ? code : agent}>
      <Link
        to="/workspaces/$workspaceId/traces/$traceId"
        params={{ workspaceId, traceId }}
        preload={false}
        className={ROW_LINK}
      >
        {root.capability}
      </Link>
    </TwoLines>
  )
}

/** How many, and the most frequent code and reason. */
function Failures({ item: { failures, errors } }: Pick<CellProps, "item">) {
  const [error] = errors
  if (error === undefined) return failures > 0 ? <Badge tone="bad">{count(failures)} failed</Badge> : null
  const others = errors.length - 1
  return (
    <div className="flex min-w-0 items-center gap-2">
      <Badge tone="bad" className="shrink-0">
        {count(failures)} failed
      </Badge>
      <div className="min-w-0">
        <TwoLines
          below={
            <span className="font-mono">
              {error.reason}
              {others > 0 ? ` and ${plural(others, "other code", "other codes")}` : ""}
            </span>
          }
        >
          <span className="id-text text-bad">{error.errorCode}</span>
        </TwoLines>
      </div>
    </div>
  )
}

function Calls({ item: { invocations, agents, agentCount } }: Pick<CellProps, "item">) {
  const title = agents.join(", ") + (agentCount > agents.length ? ", …" : "")
  return (
    <span title={title}>
      <TwoLines below={plural(agentCount, "Agent")}>{plural(invocations, "call")}</TwoLines>
    </span>
  )
}

interface DurationProps extends CellProps {
  readonly isShort?: boolean
}

function Duration({ item: { root, running, durationMs }, now, isShort = false }: DurationProps) {
  if (stateOf(root, now) === "interrupted") return <>–</>
  if (running === 0 || isEnded(root.status)) return <>{duration(durationMs)}</>
  return <SoFar since={root.createdAt} now={now} isShort={isShort} />
}
