/** The rows of the list of Invocations: two lines each, in fewer columns where there is little room. */

import { Link } from "@tanstack/react-router"
import { CornerDownRight } from "lucide-react"
import { useMemo } from "react"

import type { InvocationRecord } from "@/api/contract.gen"
import { DataTable, type Column } from "@/components/DataTable"
import { TimeOfRow } from "@/components/Time"
import { duration } from "@/components/format"
import { useWide } from "@/components/useWide"
import { StateBadge } from "@/domain/StateBadge"
import { failureText, isEnded, stateOf } from "@/domain/invocationState"
import { FULL_HEIGHT, ROW_LINK, SoFar, TwoLines } from "@/features/invocations/cells"

interface InvocationTableProps {
  readonly rows: ReadonlyArray<InvocationRecord>
  readonly now: number
  readonly onEnd?: () => void
  readonly loadingMore: boolean
}

export function InvocationTable({ rows, now, onEnd, loadingMore }: InvocationTableProps) {
  const wide = useWide()
  const withCaller = useWide(80)
  const columns = useMemo(
    () => (wide ? wideColumns(now, withCaller) : narrowColumns(now)),
    [wide, withCaller, now],
  )
  return (
    <DataTable
      key={String(wide)}
      label="Invocations"
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

function wideColumns(now: number, withCaller: boolean): ReadonlyArray<Column<InvocationRecord>> {
  const caller: Column<InvocationRecord> = {
    name: "Caller",
    width: "minmax(0,1.2fr)",
    cell: (row) => <CallerCell row={row} />,
  }
  return [
    { name: "Status", width: "7rem", cell: (row) => <State row={row} now={now} /> },
    { name: "Skill, Agent", width: "minmax(0,2.2fr)", cell: (row) => <SkillCell row={row} /> },
    { name: "Code, reason", width: "minmax(0,1.6fr)", cell: (row) => <Failure row={row} /> },
    ...(withCaller ? [caller] : []),
    { name: "Latency", width: "5.5rem", align: "end", cell: (row) => <Latency row={row} now={now} /> },
    {
      name: "Created",
      width: "7.5rem",
      align: "end",
      cell: (row) => <TimeOfRow at={row.createdAt} now={now} />,
    },
  ]
}

function narrowColumns(now: number): ReadonlyArray<Column<InvocationRecord>> {
  return [
    { name: "Status", width: "6.5rem", cell: (row) => <State row={row} now={now} /> },
    { name: "Skill, Agent", width: "minmax(0,1fr)", cell: (row) => <SkillCell row={row} withFailure /> },
    {
      name: "Latency",
      width: "4.75rem",
      align: "end",
      cell: (row) => (
        <TwoLines below={<TimeOfRow at={row.createdAt} now={now} isShort />}>
          <Latency row={row} now={now} isShort />
        </TwoLines>
      ),
    },
  ]
}

interface CellProps {
  readonly row: InvocationRecord
  readonly now: number
}

function State({ row, now }: CellProps) {
  return <StateBadge state={stateOf(row, now)} title={failureText(row)} />
}

interface SkillCellProps {
  readonly row: InvocationRecord
  /** The code in place of the Agent, where there is no column for it. */
  readonly withFailure?: boolean
}

/** Its link covers the whole row. */
function SkillCell({ row, withFailure = false }: SkillCellProps) {
  const { workspaceId, invocationId, targetAgentId, agentCardVersion, errorCode } = row
  const agent = (
    <span className="font-mono">
      {targetAgentId} {agentCardVersion}
    </span>
  )
  const code = <span className="font-mono text-bad">{errorCode}</span>
  return (
    <TwoLines below={withFailure && errorCode !== undefined && errorCode !== "CANCELED" ? code : agent}>
      <Link
        to="/workspaces/$workspaceId/invocations/$invocationId"
        params={{ workspaceId, invocationId }}
        preload={false}
        className={ROW_LINK}
      >
        {row.capability}
      </Link>
    </TwoLines>
  )
}

function Failure({ row: { errorCode, reason } }: { readonly row: InvocationRecord }) {
  if (errorCode === undefined) return null
  return (
    <TwoLines below={<span className="font-mono">{reason}</span>}>
      <span className={errorCode === "CANCELED" ? "id-text text-muted" : "id-text text-bad"}>
        {errorCode}
      </span>
    </TwoLines>
  )
}

function CallerCell({ row }: { readonly row: InvocationRecord }) {
  return (
    <span className="flex items-center gap-1 text-muted">
      {row.caller.type === "agent" ? (
        <CornerDownRight role="img" aria-label="Called by the Agent" className="size-3.5 shrink-0" />
      ) : null}
      <span className="truncate id-text" title={row.caller.id}>
        {row.caller.id}
      </span>
    </span>
  )
}

function Latency({ row, now, isShort = false }: CellProps & { readonly isShort?: boolean }) {
  if (row.latencyMs !== undefined) return <>{duration(row.latencyMs)}</>
  if (isEnded(row.status) || stateOf(row, now) === "interrupted") return <>–</>
  return <SoFar since={row.createdAt} now={now} isShort={isShort} />
}
