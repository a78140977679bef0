/** The views of a Trace side by side with the Invocation that is chosen in them; what is chosen is in the address. */

import { useQuery } from "@tanstack/react-query"
import { getRouteApi } from "@tanstack/react-router"
import { useMemo } from "react"

import type { InvocationEvent, InvocationRecord, Trace } from "@/api/contract.gen"
import { read } from "@/api/queries"
import { Switch } from "@/components/Field"
import { Tabs } from "@/components/Tabs"
import { cn } from "@/components/classes"
import { useNow } from "@/components/useNow"
import { isEnded, isLive } from "@/domain/invocationState"
import { CallGraph } from "@/features/trace/CallGraph"
import { ChosenInvocation } from "@/features/trace/ChosenInvocation"
import { Waterfall } from "@/features/trace/Waterfall"
import { callGraph, nodeKeyOf } from "@/features/trace/graph"
import type { TraceSearch } from "@/features/trace/search"

const route = getRouteApi("/console/workspaces/$workspaceId/traces/$traceId")
const REFRESH_MILLISECONDS = 1000
const NO_EVENTS: ReadonlyArray<InvocationEvent> = []

export function TraceViews({ trace: { invocations } }: { readonly trace: Trace }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const now = useNow(invocations.every((record) => isEnded(record.status)) ? undefined : 1000)
  const chosen = invocations.find((record) => record.invocationId === search.invocation) ?? invocations[0]
  const alike = useAlike(invocations, chosen, now)
  const detail = useDetail(chosen, now)
  if (chosen === undefined) return null
  const change = (next: TraceSearch) => void navigate({ search: next, replace: true, resetScroll: false })
  const choose = (invocation: string) => change({ ...search, invocation })
  const isGraph = search.view === "graph"
  const shared = { records: invocations, now, onChoose: choose }
  const waterfall = (
    <>
      <Waterfall
        {...shared}
        chosen={chosen.invocationId}
        events={detail.data?.events ?? NO_EVENTS}
        withDeadlines={search.deadlines === true}
      />
      <Legend search={search} onChange={change} />
    </>
  )
  return (
    <div
      className={cn("grid grid-cols-1 items-start gap-4", isGraph || "lg:grid-cols-[minmax(0,1fr)_22rem]")}
    >
      <div className="min-w-0">
        <Tabs
          label="View"
          value={search.view ?? "waterfall"}
          onChange={(view) => change({ ...search, view: view === "waterfall" ? undefined : view })}
          tabs={[
            { name: "waterfall", label: "Waterfall", content: waterfall },
            { name: "graph", label: "Call graph", content: <CallGraph {...shared} chosen={chosen} /> },
          ]}
        />
      </div>
      <ChosenInvocation
        record={chosen}
        detail={detail}
        now={now}
        alike={isGraph ? alike : []}
        wide={isGraph}
        onChoose={choose}
      />
    </div>
  )
}

function useDetail(chosen: InvocationRecord | undefined, now: number) {
  const path = { workspaceId: chosen?.workspaceId ?? "", invocationId: chosen?.invocationId ?? "" }
  return useQuery({
    ...read("readInvocation", { path }),
    enabled: chosen !== undefined,
    refetchInterval: chosen !== undefined && isLive(chosen, now) && REFRESH_MILLISECONDS,
  })
}

/** The Invocations of the chosen one's node in the call graph. */
function useAlike(
  invocations: ReadonlyArray<InvocationRecord>,
  chosen: InvocationRecord | undefined,
  now: number,
): ReadonlyArray<InvocationRecord> {
  const nodes = useMemo(() => callGraph(invocations, now).nodes, [invocations, now])
  const key = chosen === undefined ? undefined : nodeKeyOf(chosen)
  return nodes.find((node) => node.key === key)?.calls ?? []
}

interface LegendProps {
  readonly search: TraceSearch
  readonly onChange: (search: TraceSearch) => void
}

function Legend({ search, onChange }: LegendProps) {
  return (
    <div className="mt-2 flex flex-wrap items-center gap-x-5 gap-y-1 text-xs text-muted">
      <Switch
        label="Axis up to the deadlines"
        checked={search.deadlines === true}
        onChange={(event) => onChange({ ...search, deadlines: event.target.checked || undefined })}
      />
      <span className="inline-flex items-center gap-1.5">
        <span aria-hidden className="h-3.5 border-l-2 border-dotted border-warn" />
        deadline
      </span>
      <span className="inline-flex items-center gap-1.5">
        <span aria-hidden className="h-3.5 w-px bg-ink" />
        events of the chosen Invocation
      </span>
      <span className="max-sm:hidden">Arrow keys move, open and close; Enter shows the facts.</span>
    </div>
  )
}
