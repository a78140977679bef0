/** The Invocation another was called from and those it made, from their Trace. */

import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { CornerDownRight, CornerLeftUp } from "lucide-react"
import type { ReactNode } from "react"

import type { InvocationRecord } from "@/api/contract.gen"
import { wholeTrace } from "@/api/queries"
import { Loaded } from "@/components/Loaded"
import { Skeleton } from "@/components/Skeleton"
import { duration, plural } from "@/components/format"
import { StateBadge } from "@/domain/StateBadge"
import { isLive, stateOf } from "@/domain/invocationState"
import { relativesOf } from "@/features/invocations/relatives"

const SHOWN_CHILDREN = 50

interface FamilyProps {
  readonly record: InvocationRecord
  readonly now: number
}

export function Family({ record, now }: FamilyProps) {
  const { workspaceId, traceId } = record
  const trace = useQuery({
    ...wholeTrace({ workspaceId, traceId }),
    refetchInterval: isLive(record, now) && 2000,
  })
  return (
    <Loaded query={trace} what="Lineage" loading={<Skeleton className="m-4 h-5 w-1/2" />}>
      {({ invocations }) => <Relatives record={record} now={now} invocations={invocations} />}
    </Loaded>
  )
}

function Relatives({
  record,
  now,
  invocations,
}: FamilyProps & { readonly invocations: ReadonlyArray<InvocationRecord> }) {
  const { parent, children } = relativesOf(record, invocations)
  if (parent === undefined && children.length === 0) {
    return (
      <p className="p-4 text-sm text-muted">
        Called by {record.caller.id} ({record.caller.type}); it called no other Agent.
      </p>
    )
  }
  return (
    <ul className="divide-y divide-line">
      {parent ? (
        <Relative record={parent} now={now} icon={<CornerLeftUp role="img" aria-label="Called from" />} />
      ) : null}
      {children.slice(0, SHOWN_CHILDREN).map((child) => (
        <Relative
          key={child.invocationId}
          record={child}
          now={now}
          icon={<CornerDownRight role="img" aria-label="Called" />}
        />
      ))}
      {children.length > SHOWN_CHILDREN ? (
        <li className="px-4 py-2 text-sm text-muted">
          and {plural(children.length - SHOWN_CHILDREN, "more", "more")}: the Trace shows all of them
        </li>
      ) : null}
    </ul>
  )
}

function Relative({ record, now, icon }: FamilyProps & { readonly icon: ReactNode }) {
  const { workspaceId, invocationId } = record
  return (
    <li className="relative flex items-center gap-3 px-4 py-2 text-sm hover:bg-hover [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-muted">
      {icon}
      <Link
        to="/workspaces/$workspaceId/invocations/$invocationId"
        params={{ workspaceId, invocationId }}
        className="min-w-0 flex-1 truncate after:absolute after:inset-0 hover:text-accent-strong"
      >
        <span className="font-medium">{record.capability}</span>{" "}
        <span className="id-text text-muted">{record.targetAgentId}</span>
      </Link>
      <span className="text-muted tabular-nums">
        {record.latencyMs === undefined ? "" : duration(record.latencyMs)}
      </span>
      <StateBadge state={stateOf(record, now)} />
    </li>
  )
}
