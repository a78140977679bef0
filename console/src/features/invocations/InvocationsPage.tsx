/** The Invocations of a Workspace: filtered by the address, and live without moving the rows that somebody reads. */

import { getRouteApi, Link } from "@tanstack/react-router"
import { ArrowUp, ScrollText } from "lucide-react"

import { useInvocationFeed } from "@/api/useInvocationFeed"
import { Button } from "@/components/Button"
import { EmptyState } from "@/components/EmptyState"
import { Switch } from "@/components/Field"
import { LoadMore } from "@/components/LoadMore"
import { Loaded } from "@/components/Loaded"
import { Page } from "@/components/Page"
import { plural } from "@/components/format"
import { useNow } from "@/components/useNow"
import { InvocationFilters } from "@/features/invocations/InvocationFilters"
import { InvocationTable } from "@/features/invocations/InvocationTable"
import { filtersOf, isFiltered, NO_FILTERS, type InvocationsSearch } from "@/features/invocations/search"
import { useSteadyRows } from "@/features/invocations/useSteadyRows"

const route = getRouteApi("/console/workspaces/$workspaceId/invocations")
const REFRESH_MILLISECONDS = 2000

export function InvocationsPage() {
  const { workspaceId } = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const live = search.live !== false
  const feed = useInvocationFeed(workspaceId, filtersOf(search), live && REFRESH_MILLISECONDS)
  const rows = feed.query.data?.rows ?? []
  const change = (what: InvocationsSearch) =>
    void navigate({ search: (before) => ({ ...before, ...what }), replace: true, resetScroll: false })
  return (
    <Page
      title="Invocations"
      description="All calls in this Workspace, by people and by Agents, newest first."
      actions={
        <Switch
          label="Live"
          className="min-h-8"
          checked={live}
          onChange={(event) => change({ live: event.target.checked ? undefined : false })}
        />
      }
    >
      <InvocationFilters
        workspaceId={workspaceId}
        search={search}
        capabilities={[...new Set(rows.map((row) => row.capability))].sort()}
        onChange={change}
      />
      <Loaded query={feed.query} what="Invocations">
        {() =>
          rows.length === 0 ? (
            <Nothing workspaceId={workspaceId} search={search} onChange={change} />
          ) : (
            // A list with other filters is another list: it starts at its top.
            <List key={JSON.stringify(filtersOf(search))} feed={feed} live={live} />
          )
        }
      </Loaded>
    </Page>
  )
}

interface ListProps {
  readonly feed: ReturnType<typeof useInvocationFeed>
  readonly live: boolean
}

function List({ feed: { query, end }, live }: ListProps) {
  const rows = query.data?.rows ?? []
  const { shown, waiting, showWaiting, watch } = useSteadyRows(rows)
  const now = useNow(live ? 1000 : undefined)
  return (
    <div aria-busy={query.isPlaceholderData} className={query.isPlaceholderData ? "opacity-60" : undefined}>
      <div className="mb-2 flex min-h-7 items-center justify-between gap-3 text-sm text-muted">
        <p>
          {plural(shown.length, "Invocation")}
          {end.hasNextPage ? " so far" : ""}
        </p>
        {waiting > 0 ? (
          <Button tone="primary" size="small" onClick={showWaiting}>
            <ArrowUp aria-hidden />
            Show {plural(waiting, "new Invocation")}
          </Button>
        ) : null}
      </div>
      <div {...watch}>
        <InvocationTable
          rows={shown}
          now={now}
          onEnd={end.hasNextPage && !end.isFetchNextPageError ? end.fetchNextPage : undefined}
          loadingMore={end.isFetchingNextPage}
        />
      </div>
      {end.isFetchNextPageError ? (
        <div className="mt-3">
          <LoadMore list={end} />
        </div>
      ) : null}
    </div>
  )
}

interface NothingProps {
  readonly workspaceId: string
  readonly search: InvocationsSearch
  readonly onChange: (change: InvocationsSearch) => void
}

function Nothing({ workspaceId, search, onChange }: NothingProps) {
  if (isFiltered(search)) {
    return (
      <EmptyState
        icon={<ScrollText aria-hidden />}
        title="No Invocation matches."
        action={<Button onClick={() => onChange(NO_FILTERS)}>Clear the filters</Button>}
      >
        Agent and capability must match exactly. The times are compared with the creation of the Invocation.
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon={<ScrollText aria-hidden />}
      title="Nothing has been invoked in this Workspace."
      action={
        <Button asChild tone="primary">
          <Link to="/workspaces/$workspaceId/playground" params={{ workspaceId }}>
            Open the Playground
          </Link>
        </Button>
      }
    >
      Each call of an installed Agent is listed here as soon as it is accepted.
    </EmptyState>
  )
}
