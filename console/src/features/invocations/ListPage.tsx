/** The frame of both lists: filters and views in the address, rows that stay where they are while somebody reads them. */

import { ArrowUp, RotateCw } from "lucide-react"
import type { ReactNode } from "react"

import type { Placed } from "@/api/feed"
import type { useFeed } from "@/api/useFeed"
import { Button } from "@/components/Button"
import { EmptyState } from "@/components/EmptyState"
import { Switch } from "@/components/Field"
import { LoadMore } from "@/components/LoadMore"
import { Loaded } from "@/components/Loaded"
import { Page } from "@/components/Page"
import { plural, shortDateTime } from "@/components/format"
import { useNow } from "@/components/useNow"
import { RANGES } from "@/domain/range"
import { ListFilters } from "@/features/invocations/ListFilters"
import { SavedViews } from "@/features/invocations/SavedViews"
import { isFiltered, NO_FILTERS, type ListSearch } from "@/features/invocations/search"
import { useSteadyRows } from "@/features/invocations/useSteadyRows"

export const REFRESH_MILLISECONDS = 2000

/** A list that is sorted by latency would jump: it is read again when somebody asks for it. */
export function refreshOf({ live, order }: ListSearch): number | false {
  return live !== false && order !== "slowest" && REFRESH_MILLISECONDS
}

interface TableProps<Row> {
  readonly rows: ReadonlyArray<Row>
  readonly now: number
  readonly onEnd?: () => void
  readonly loadingMore: boolean
}

interface ListPageProps<Row extends Placed> {
  readonly workspaceId: string
  /** "Trace", as it is counted. */
  readonly noun: string
  readonly description: string
  readonly kept: "invocationViews" | "traceViews"
  readonly search: ListSearch
  readonly onChange: (change: ListSearch) => void
  readonly feed: ReturnType<typeof useFeed<Row>>
  readonly capabilities: ReadonlyArray<string>
  readonly empty: ReactNode
  readonly icon: ReactNode
  readonly children: (table: TableProps<Row>) => ReactNode
}

export function ListPage<Row extends Placed>(props: ListPageProps<Row>) {
  const { workspaceId, noun, description, kept, search, onChange, feed, capabilities } = props
  const rows = feed.query.data?.rows ?? []
  const { live: _live, ...filters } = search
  return (
    <Page
      title={`${noun}s`}
      isFull
      description={description}
      actions={
        <>
          <Freshness search={search} feed={feed} onChange={onChange} />
          <SavedViews kept={kept} search={search} onChange={onChange} />
        </>
      }
    >
      <div className="flex flex-col lg:h-full">
        <ListFilters
          workspaceId={workspaceId}
          search={search}
          capabilities={[...new Set(capabilities)].sort()}
          withRoots={kept === "invocationViews"}
          onChange={onChange}
        />
        <Loaded query={feed.query} what={`${noun}s`}>
          {() =>
            rows.length === 0 ? (
              <Nothing {...props} />
            ) : (
              // A list with other filters is another list: it starts at its top.
              <Rows key={JSON.stringify(filters)} {...props} />
            )
          }
        </Loaded>
      </div>
    </Page>
  )
}

type FreshnessProps = Pick<ListPageProps<Placed>, "search" | "onChange"> & {
  readonly feed: Pick<ReturnType<typeof useFeed>, "query">
}

function Freshness({ search, feed: { query }, onChange }: FreshnessProps) {
  if (search.order === "slowest") {
    return (
      <span className="inline-flex items-center gap-2 text-sm text-muted">
        {query.dataUpdatedAt > 0 ? `As of ${shortDateTime(new Date(query.dataUpdatedAt).toISOString())}` : ""}
        <Button busy={query.isFetching} onClick={() => void query.refetch()}>
          <RotateCw aria-hidden />
          Refresh
        </Button>
      </span>
    )
  }
  return (
    <Switch
      label="Live"
      className="min-h-8"
      checked={search.live !== false}
      onChange={(event) => onChange({ live: event.target.checked ? undefined : false })}
    />
  )
}

function Rows<Row extends Placed>({ noun, search, feed: { query, end }, children }: ListPageProps<Row>) {
  const now = useNow(search.live === false ? undefined : 1000)
  const rows = query.data?.rows ?? []
  const { last } = search
  // What has left a named range meanwhile is no longer in it.
  const inRange =
    last === undefined
      ? rows
      : rows.filter((row) => Date.parse(row.createdAt) >= now - RANGES[last].milliseconds - 60_000)
  const { shown, waiting, showWaiting, watch } = useSteadyRows(inRange, search.order !== "slowest")
  return (
    <div
      aria-busy={query.isPlaceholderData}
      className={`flex flex-col lg:min-h-0 lg:flex-1 ${query.isPlaceholderData ? "opacity-60" : ""}`}
    >
      <div className="mb-2 flex min-h-7 items-center justify-between gap-3 text-sm text-muted">
        <p>
          {plural(shown.length, noun)}
          {end.hasNextPage ? " so far" : ""}
        </p>
        {waiting > 0 ? (
          <Button tone="primary" size="small" onClick={showWaiting}>
            <ArrowUp aria-hidden />
            Show {plural(waiting, `new ${noun}`)}
          </Button>
        ) : null}
      </div>
      <div {...watch} className="flex flex-col lg:min-h-0 lg:flex-1">
        {children({
          rows: shown,
          now,
          onEnd: end.hasNextPage && !end.isFetchNextPageError ? end.fetchNextPage : undefined,
          loadingMore: end.isFetchingNextPage,
        })}
      </div>
      {end.isFetchNextPageError ? (
        <div className="mt-3">
          <LoadMore list={end} />
        </div>
      ) : null}
    </div>
  )
}

function Nothing<Row extends Placed>({ noun, search, feed: { end }, ...props }: ListPageProps<Row>) {
  if (end.hasNextPage) {
    return (
      <EmptyState icon={props.icon} title={`No ${noun} matches so far.`} action={<LoadMore list={end} />}>
        The search has read many of them and can go on with older ones.
      </EmptyState>
    )
  }
  if (!isFiltered(search)) return props.empty
  return (
    <EmptyState
      icon={props.icon}
      title={`No ${noun} matches.`}
      action={<Button onClick={() => props.onChange(NO_FILTERS)}>Clear the filters</Button>}
    >
      Ids must match exactly. The times are compared with the creation of the {noun}.
    </EmptyState>
  )
}
