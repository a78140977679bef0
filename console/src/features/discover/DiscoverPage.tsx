/** Finding an Agent: search as one types, filters, results page by page; all of it in the address. */

import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query"
import { getRouteApi } from "@tanstack/react-router"
import { PackageSearch } from "lucide-react"

import { itemsOf, pages } from "@/api/queries"
import { Button } from "@/components/Button"
import { EmptyState } from "@/components/EmptyState"
import { Select } from "@/components/Field"
import { LoadMore } from "@/components/LoadMore"
import { Page } from "@/components/Page"
import { ProblemNotice } from "@/components/Problems"
import { Loading } from "@/components/Skeleton"
import { plural } from "@/components/format"
import { useOpenWorkspace } from "@/domain/installed"
import { AgentResult } from "@/features/discover/AgentResult"
import { DiscoverFilters } from "@/features/discover/DiscoverFilters"
import { isFiltered, type DiscoverSearch } from "@/features/discover/search"

const route = getRouteApi("/console/discover")

export function DiscoverPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (next: DiscoverSearch) => void navigate({ search: next, replace: true, resetScroll: false })
  return (
    <Page
      title="Discover"
      description="Find published Agents. You can install an Agent when its endpoint is proven."
    >
      <DiscoverFilters search={search} onChange={change} />
      <Results search={search} onChange={change} />
    </Page>
  )
}

interface ResultsProps {
  readonly search: DiscoverSearch
  readonly onChange: (search: DiscoverSearch) => void
}

function Results({ search, onChange }: ResultsProps) {
  const list = useInfiniteQuery({
    ...pages("discoverAgents", { query: queryOf(search) }),
    placeholderData: keepPreviousData,
  })
  const workspace = useOpenWorkspace()
  if (list.isError && list.data === undefined) {
    return (
      <ProblemNotice
        title="Agents could not be loaded"
        problem={list.error}
        onRetry={() => void list.refetch()}
      />
    )
  }
  if (list.data === undefined) return <Loading what="Agents" rows={4} />
  const items = itemsOf<"discoverAgents">(list.data)
  if (items.length === 0 && !list.hasNextPage) return <NothingFound search={search} onChange={onChange} />
  return (
    <div aria-busy={list.isPlaceholderData} className={list.isPlaceholderData ? "opacity-60" : undefined}>
      <div className="mb-2 flex flex-wrap items-center justify-between gap-2">
        <p role="status" className="text-sm text-muted">
          {list.hasNextPage ? "The first " : ""}
          {plural(items.length, search.latest === false ? "version" : "Agent")}
          {list.hasNextPage ? "; there are more" : ""}
        </p>
        <Order search={search} onChange={onChange} />
      </div>
      <ul className="space-y-3">
        {items.map((item) => (
          <li key={`${item.agentId} ${item.version}`}>
            <AgentResult
              item={item}
              workspace={workspace}
              onCapability={(capability) => onChange({ ...search, capability })}
            />
          </li>
        ))}
      </ul>
      <LoadMore list={list} />
    </div>
  )
}

/** There is something to choose only with a text: without one nothing matches better than another. */
function Order({ search, onChange }: ResultsProps) {
  if (search.query === undefined) return <p className="text-sm text-muted">Newest first</p>
  return (
    <Select
      aria-label="Order"
      className="w-auto"
      value={search.order ?? "relevance"}
      onChange={(event) =>
        onChange({ ...search, order: event.target.value === "newest" ? "newest" : undefined })
      }
    >
      <option value="relevance">Best match first</option>
      <option value="newest">Newest first</option>
    </Select>
  )
}

function queryOf({ query, capability, owner, latest, installable, order }: DiscoverSearch) {
  const sorted = query === undefined ? undefined : order
  return { query, capability, ownerId: owner, latest: latest ?? true, installable, order: sorted }
}

function NothingFound({ search, onChange }: ResultsProps) {
  if (!isFiltered(search)) {
    return (
      <EmptyState icon={<PackageSearch aria-hidden />} title="No Agent is published yet.">
        A provider publishes one on the Publish page, or with <code className="id-text">aop publish</code>.
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon={<PackageSearch aria-hidden />}
      title="No published Agent matches."
      action={<Button onClick={() => onChange({ latest: search.latest })}>Clear search and filters</Button>}
    >
      Every word must be in the name, the description, the id, a Skill or the owner; one or two wrong letters
      in a longer word are forgiven. Filters are exact.
    </EmptyState>
  )
}
