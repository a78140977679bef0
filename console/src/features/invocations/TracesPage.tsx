/** The Traces of a Workspace: one row for each call that somebody made, with what became of all that it called. */

import { getRouteApi } from "@tanstack/react-router"
import { Waypoints } from "lucide-react"

import { traceList } from "@/api/lists"
import { useFeed } from "@/api/useFeed"
import { ListPage, refreshOf } from "@/features/invocations/ListPage"
import { NothingInvoked } from "@/features/invocations/NothingInvoked"
import { traceFiltersOf, type ListSearch } from "@/features/invocations/search"
import { TraceTable } from "@/features/invocations/TraceTable"
import { useAnchor } from "@/features/invocations/useAnchor"

const route = getRouteApi("/console/workspaces/$workspaceId/traces")

export function TracesPage() {
  const { workspaceId } = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const anchor = useAnchor(search.last)
  const feed = useFeed(traceList(workspaceId, traceFiltersOf(search, anchor)), refreshOf(search))
  const rows = feed.query.data?.rows ?? []
  return (
    <ListPage
      workspaceId={workspaceId}
      noun="Trace"
      description="What people called in this Workspace, each with everything that was called from it."
      kept="traceViews"
      search={search}
      onChange={(change: ListSearch) =>
        void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false })
      }
      feed={feed}
      capabilities={rows.map((row) => row.item.root.capability)}
      icon={<Waypoints aria-hidden />}
      empty={<NothingInvoked workspaceId={workspaceId} icon={<Waypoints aria-hidden />} />}
    >
      {(table) => <TraceTable {...table} />}
    </ListPage>
  )
}
