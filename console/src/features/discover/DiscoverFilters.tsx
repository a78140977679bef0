/** The search box and the filters. */

import { Search, X } from "lucide-react"

import { PATTERNS } from "@/api/contract.gen"
import { Button } from "@/components/Button"
import { DebouncedInput } from "@/components/DebouncedInput"
import { Field, Switch } from "@/components/Field"
import { isFiltered, type DiscoverSearch } from "@/features/discover/search"

interface DiscoverFiltersProps {
  readonly search: DiscoverSearch
  readonly onChange: (search: DiscoverSearch) => void
}

export function DiscoverFilters({ search, onChange }: DiscoverFiltersProps) {
  return (
    <div role="search" className="mb-5 space-y-3">
      <div className="relative">
        <Search aria-hidden className="pointer-events-none absolute top-2.5 left-3 size-4 text-muted" />
        <DebouncedInput
          label="Search Agents"
          placeholder="Search names and descriptions"
          value={search.query}
          className="h-9 pl-9"
          accepts={(text) => text.trim() !== ""}
          onChange={(query) => onChange({ ...search, query })}
        />
      </div>
      <div className="grid grid-cols-2 items-end gap-x-4 gap-y-3 sm:flex sm:flex-wrap">
        <FilterText
          label="Capability"
          placeholder="Skill id"
          value={search.capability}
          onChange={(capability) => onChange({ ...search, capability })}
        />
        <FilterText
          label="Owner"
          placeholder="Owner id"
          value={search.owner}
          onChange={(owner) => onChange({ ...search, owner })}
        />
        <div className="col-span-2 flex min-h-8 flex-wrap items-center gap-x-6 gap-y-3">
          <Switch
            label="Latest version only"
            checked={search.latest !== false}
            onChange={(event) => onChange({ ...search, latest: event.target.checked ? undefined : false })}
          />
          <Switch
            label="Installable only"
            checked={search.installable === true}
            onChange={(event) =>
              onChange({ ...search, installable: event.target.checked ? true : undefined })
            }
          />
        </div>
        {isFiltered(search) ? (
          <Button
            tone="quiet"
            className="justify-self-start"
            onClick={() => onChange({ latest: search.latest })}
          >
            <X aria-hidden />
            Clear
          </Button>
        ) : null}
      </div>
    </div>
  )
}

interface FilterTextProps {
  readonly label: string
  readonly placeholder: string
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
}

function FilterText({ label, ...rest }: FilterTextProps) {
  return (
    <Field label={label} className="sm:w-44">
      {(control) => (
        <DebouncedInput {...control} {...rest} accepts={(text) => PATTERNS.safeIdentifier.test(text)} />
      )}
    </Field>
  )
}
