/** The filters of a list: those the Gateway offers, the time first; further ones are folded away where there is little room. */

import { useQuery } from "@tanstack/react-query"
import { ListFilter, X } from "lucide-react"
import { useState } from "react"

import { whole } from "@/api/queries"
import { Button } from "@/components/Button"
import { Field, Select } from "@/components/Field"
import { useWide } from "@/components/useWide"
import { stateLabel } from "@/domain/StateBadge"
import { FurtherFilters } from "@/features/invocations/FurtherFilters"
import { furtherOf, isFiltered, NO_FILTERS, STATUSES, type ListSearch } from "@/features/invocations/search"
import { TimeFilter } from "@/features/invocations/TimeFilter"

interface ListFiltersProps {
  readonly workspaceId: string
  readonly search: ListSearch
  /** Capabilities met so far, offered while typing. */
  readonly capabilities: ReadonlyArray<string>
  /** A list of Traces has nothing but roots. */
  readonly withRoots: boolean
  /** Gets what changes, never the whole: another filter may be on its way to the address. */
  readonly onChange: (change: ListSearch) => void
}

export function ListFilters(props: ListFiltersProps) {
  const { workspaceId, search, capabilities, withRoots, onChange } = props
  const isWide = useWide(80)
  const further = furtherOf(search)
  const [isOpen, setIsOpen] = useState<boolean>()
  const isShown = isOpen ?? (isWide || further > 0)
  const { data: installations = [] } = useQuery(
    whole("listInstallations", { path: { workspaceId }, query: {} }),
  )
  const agents = [...new Set(installations.map((installation) => installation.agentId))].sort()
  return (
    <div role="search" aria-label="Filters" className="mb-3 space-y-3">
      <div className="flex flex-wrap items-end gap-3">
        <TimeFilter search={search} onChange={onChange} />
        <StatusFilter search={search} onChange={onChange} />
        <OrderChoice search={search} onChange={onChange} />
        <Button aria-expanded={isShown} onClick={() => setIsOpen(!isShown)}>
          <ListFilter aria-hidden />
          {further > 0 ? `Filters: ${further}` : "Filters"}
        </Button>
        {isFiltered(search) ? (
          <Button tone="quiet" onClick={() => onChange(NO_FILTERS)}>
            <X aria-hidden />
            Clear
          </Button>
        ) : null}
      </div>
      {isShown ? (
        <FurtherFilters
          search={search}
          agents={agents}
          capabilities={capabilities}
          withRoots={withRoots}
          onChange={onChange}
        />
      ) : null}
    </div>
  )
}

type FilterProps = Pick<ListFiltersProps, "search" | "onChange">

function StatusFilter({ search, onChange }: FilterProps) {
  return (
    <Field label="Status" className="min-w-20 flex-1 sm:w-32 sm:flex-none">
      {(control) => (
        <Select
          {...control}
          value={search.status ?? ""}
          onChange={(event) => onChange({ status: STATUSES.find((status) => status === event.target.value) })}
        >
          <option value="">Any</option>
          {STATUSES.map((status) => (
            <option key={status} value={status}>
              {stateLabel(status)}
            </option>
          ))}
        </Select>
      )}
    </Field>
  )
}

function OrderChoice({ search, onChange }: FilterProps) {
  return (
    <Field label="Order" className="min-w-32 flex-1 sm:w-36 sm:flex-none">
      {(control) => (
        <Select
          {...control}
          value={search.order ?? "newest"}
          onChange={(event) => onChange({ order: event.target.value === "slowest" ? "slowest" : undefined })}
        >
          <option value="newest">Newest first</option>
          <option value="slowest">Slowest first</option>
        </Select>
      )}
    </Field>
  )
}
