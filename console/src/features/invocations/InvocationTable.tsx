/** The rows of the list: one line each, two where there is little room. */

import { Link } from "@tanstack/react-router"
import { CornerDownRight } from "lucide-react"
import { useMemo } from "react"

import type { InvocationRecord } from "@/api/contract.gen"
import { DataTable, type Column } from "@/components/DataTable"
import { Time } from "@/components/Time"
import { duration } from "@/components/format"
import { StateBadge } from "@/domain/StateBadge"
import { failureText, isEnded, stateOf } from "@/domain/invocationState"
import { useWide } from "@/components/useWide"

interface InvocationTableProps {
  readonly rows: ReadonlyArray<InvocationRecord>
  readonly now: number
  readonly onEnd?: () => void
  readonly loadingMore: boolean
}

export function InvocationTable({ rows, now, onEnd, loadingMore }: InvocationTableProps) {
  const wide = useWide()
  const columns = useMemo(() => (wide ? wideColumns(now) : narrowColumns(now)), [wide, now])
  return (
    <DataTable
      key={String(wide)}
      label="Invocations"
      columns={columns}
      rows={rows}
      keyOf={(row) => row.invocationId}
      rowHeight={wide ? 40 : 60}
      onEnd={onEnd}
      loadingMore={loadingMore}
    />
  )
}

function wideColumns(now: number): ReadonlyArray<Column<InvocationRecord>> {
  return [
    { name: "Status", width: "7rem", cell: (row) => <State row={row} now={now} /> },
    { name: "Agent", width: "minmax(0,2fr)", cell: (row) => <AgentCell row={row} /> },
    {
      name: "Capability",
      width: "minmax(0,1.5fr)",
      cell: (row) => <span className="id-text">{row.capability}</span>,
    },
    { name: "Caller", width: "minmax(0,1fr)", cell: (row) => <CallerCell row={row} /> },
    { name: "Latency", width: "5.5rem", align: "end", cell: (row) => <Latency row={row} now={now} /> },
    { name: "Created", width: "6.5rem", align: "end", cell: (row) => <Time at={row.createdAt} /> },
  ]
}

function narrowColumns(now: number): ReadonlyArray<Column<InvocationRecord>> {
  return [
    { name: "Status", width: "6.5rem", cell: (row) => <State row={row} now={now} /> },
    {
      name: "Agent, capability",
      width: "minmax(0,1fr)",
      cell: (row) => (
        <>
          <AgentCell row={row} />
          <p className="truncate id-text text-muted">{row.capability}</p>
        </>
      ),
    },
    {
      name: "Latency",
      width: "4.75rem",
      align: "end",
      cell: (row) => (
        <>
          <Latency row={row} now={now} />
          <p className="truncate text-xs text-muted">
            <Time at={row.createdAt} />
          </p>
        </>
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

/** Its link covers the whole row. */
function AgentCell({ row }: { readonly row: InvocationRecord }) {
  const { workspaceId, invocationId, targetAgentId, agentCardVersion } = row
  return (
    <Link
      to="/workspaces/$workspaceId/invocations/$invocationId"
      params={{ workspaceId, invocationId }}
      preload={false}
      className="block truncate id-text font-medium after:absolute after:inset-0 hover:text-accent-strong focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
    >
      {targetAgentId} <span className="font-normal text-muted">{agentCardVersion}</span>
    </Link>
  )
}

function CallerCell({ row }: { readonly row: InvocationRecord }) {
  return (
    <span className="flex items-center gap-1 text-muted">
      {row.caller.type === "agent" ? (
        <CornerDownRight role="img" aria-label="Called by the Agent" className="size-3.5 shrink-0" />
      ) : null}
      <span className="truncate id-text">{row.caller.id}</span>
    </span>
  )
}

function Latency({ row, now }: CellProps) {
  if (row.latencyMs !== undefined) return <>{duration(row.latencyMs)}</>
  if (isEnded(row.status) || stateOf(row, now) === "interrupted") return <>–</>
  return <span className="text-muted">{duration(Math.max(0, now - Date.parse(row.createdAt)))} so far</span>
}
