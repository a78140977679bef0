/** The views of a Trace side by side with the Invocation that is chosen in them; what is chosen is in the address. */

import { useQuery } from "@tanstack/react-query"
import { getRouteApi } from "@tanstack/react-router"
import { lazy, Suspense, useMemo } from "react"

import type { InvocationEvent, InvocationRecord, Trace } from "@/api/contract.gen"
import { read } from "@/api/queries"
import { Loading } from "@/components/Skeleton"
import { Tabs } from "@/components/Tabs"
import { useNow } from "@/components/useNow"
import { isEnded, isLive } from "@/domain/invocationState"
import { agentColors } from "@/features/trace/agentColors"
import { ChosenInvocation } from "@/features/trace/ChosenInvocation"
import { callGraph, nodeKeyOf } from "@/features/trace/graph"
import type { TraceSearch } from "@/features/trace/search"
import { SkillTimes } from "@/features/trace/SkillTimes"
import { WaterfallView } from "@/features/trace/WaterfallView"

const route = getRouteApi("/console/workspaces/$workspaceId/traces/$traceId")
const REFRESH_MILLISECONDS = 1000
const NO_EVENTS: ReadonlyArray<InvocationEvent> = []
// With its layout library in a file of its own, for those who look at it.
const CallGraph = lazy(async () => ({ default: (await import("@/features/trace/CallGraph")).CallGraph }))

export function TraceViews({ trace: { invocations } }: { readonly trace: Trace }) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const now = useNow(invocations.every((record) => isEnded(record.status)) ? undefined : 1000)
  const chosen = invocations.find((record) => record.invocationId === search.invocation) ?? invocations[0]
  const colors = useMemo(() => agentColors(invocations), [invocations])
  const alike = useAlike(invocations, chosen, now)
  const detail = useDetail(chosen, now)
  if (chosen === undefined) return null
  const change = (what: TraceSearch) =>
    void navigate({ search: (before) => ({ ...before, ...what }), replace: true, resetScroll: false })
  const shared = { records: invocations, now, colors }
  const choose = (invocation: string) => change({ invocation })
  const waterfall = (
    <WaterfallView
      {...shared}
      chosen={chosen}
      events={detail.data?.events ?? NO_EVENTS}
      search={search}
      onChange={change}
    />
  )
  const graph = (
    <Suspense fallback={<Loading what="Call graph" rows={1} />}>
      <CallGraph {...shared} chosen={chosen} onChoose={choose} />
    </Suspense>
  )
  return (
    <div className="grid grid-cols-1 gap-4 lg:h-full lg:grid-rows-[minmax(0,1fr)_minmax(0,36%)] xl:grid-cols-[minmax(0,1fr)_22rem] xl:grid-rows-1">
      <div className="min-w-0 lg:min-h-0">
        <Tabs
          label="View"
          isFull
          value={search.view ?? "waterfall"}
          onChange={(view) => change({ view: view === "waterfall" ? undefined : view })}
          tabs={[
            { name: "waterfall", label: "Waterfall", content: waterfall },
            { name: "graph", label: "Call graph", content: graph },
            { name: "skills", label: "By Skill", content: <SkillTimes {...shared} onChoose={choose} /> },
          ]}
        />
      </div>
      <div className="min-w-0 lg:min-h-0 lg:overflow-y-auto">
        <ChosenInvocation
          record={chosen}
          records={invocations}
          detail={detail}
          now={now}
          alike={search.view === "graph" ? alike : []}
          onChoose={choose}
        />
      </div>
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
