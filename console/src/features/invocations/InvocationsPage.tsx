/** The Invocations of a Workspace, those of people and those of Agents. */

import { getRouteApi } from "@tanstack/react-router"
import { ScrollText } from "lucide-react"

import { invocationList } from "@/api/lists"
import { useFeed } from "@/api/useFeed"
import { NothingInvoked } from "@/features/invocations/NothingInvoked"
import { InvocationTable } from "@/features/invocations/InvocationTable"
import { ListPage, refreshOf } from "@/features/invocations/ListPage"
import { invocationFiltersOf, type ListSearch } from "@/features/invocations/search"
import { useAnchor } from "@/features/invocations/useAnchor"

const route = getRouteApi("/console/workspaces/$workspaceId/invocations")

export function InvocationsPage() {
  const { workspaceId } = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const anchor = useAnchor(search.last)
  const feed = useFeed(invocationList(workspaceId, invocationFiltersOf(search, anchor)), refreshOf(search))
  const rows = feed.query.data?.rows ?? []
  return (
    <ListPage
      workspaceId={workspaceId}
      noun="Invocation"
      description="All calls in this Workspace, by people and by Agents."
      kept="invocationViews"
      search={search}
      onChange={(change: ListSearch) =>
        void navigate({ search: (before) => ({ ...before, ...change }), replace: true, resetScroll: false })
      }
      feed={feed}
      capabilities={rows.map((row) => row.capability)}
      icon={<ScrollText aria-hidden />}
      empty={<NothingInvoked workspaceId={workspaceId} icon={<ScrollText aria-hidden />} />}
    >
      {(table) => <InvocationTable {...table} />}
    </ListPage>
  )
}
