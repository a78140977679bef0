/** One search box over everything; the filters, which are exact, stand below it. */

import { Search, SlidersHorizontal, X } from "lucide-react"
import { useState } from "react"

import { PATTERNS } from "@/api/contract.gen"
import { Button } from "@/components/Button"
import { DebouncedInput } from "@/components/DebouncedInput"
import { Field, Switch } from "@/components/Field"
import { OpenShareLink } from "@/features/discover/OpenShareLink"
import { isFiltered, type DiscoverSearch } from "@/features/discover/search"

interface DiscoverFiltersProps {
  readonly search: DiscoverSearch
  readonly onChange: (search: DiscoverSearch) => void
}

export function DiscoverFilters({ search, onChange }: DiscoverFiltersProps) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <div role="search" className="mb-5 space-y-3">
      <div className="relative">
        <Search aria-hidden className="pointer-events-none absolute top-3 left-3 size-4 text-muted" />
        <DebouncedInput
          label="Search Agents"
          placeholder="Search by name, Skill, id or owner"
          value={search.query}
          className="h-10 pl-9"
          accepts={(text) => text.trim() !== ""}
          onChange={(query) => onChange({ ...search, query })}
        />
      </div>
      <div className="flex flex-wrap items-center gap-x-5 gap-y-2.5">
        <Switch
          label="Latest version only"
          checked={search.latest !== false}
          onChange={(event) => onChange({ ...search, latest: event.target.checked ? undefined : false })}
        />
        <Switch
          label="Installable only"
          checked={search.installable === true}
          onChange={(event) => onChange({ ...search, installable: event.target.checked ? true : undefined })}
        />
        <Button
          size="small"
          tone="quiet"
          aria-expanded={isOpen}
          aria-controls="exact-filters"
          onClick={() => setIsOpen(!isOpen)}
        >
          <SlidersHorizontal aria-hidden />
          Exact filters
        </Button>
        {isFiltered(search) ? (
          <Button size="small" tone="quiet" onClick={() => onChange({ latest: search.latest })}>
            <X aria-hidden />
            Clear
          </Button>
        ) : null}
        <div className="ml-auto">
          <OpenShareLink />
        </div>
      </div>
      <ExactFilters isOpen={isOpen} search={search} onChange={onChange} />
      <ChosenFilters search={search} onChange={onChange} />
    </div>
  )
}

function ExactFilters({ isOpen, search, onChange }: DiscoverFiltersProps & { readonly isOpen: boolean }) {
  return (
    <div id="exact-filters" className="grid grid-cols-2 gap-4 empty:hidden sm:flex">
      {isOpen ? (
        <>
          <FilterText
            label="Skill"
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
        </>
      ) : null}
    </div>
  )
}

/** Visible whether the fields are shown or not: nothing narrows the list unseen. */
function ChosenFilters({ search, onChange }: DiscoverFiltersProps) {
  return (
    <div className="flex flex-wrap items-center gap-2 empty:hidden">
      {search.capability ? (
        <Chosen
          name="Skill"
          value={search.capability}
          onRemove={() => onChange({ ...search, capability: undefined })}
        />
      ) : null}
      {search.owner ? (
        <Chosen
          name="Owner"
          value={search.owner}
          onRemove={() => onChange({ ...search, owner: undefined })}
        />
      ) : null}
    </div>
  )
}

interface ChosenProps {
  readonly name: string
  readonly value: string
  readonly onRemove: () => void
}

function Chosen({ name, value, onRemove }: ChosenProps) {
  return (
    <Button
      size="small"
      className="max-w-full"
      aria-label={`Remove the filter ${name} ${value}`}
      onClick={onRemove}
    >
      <span className="truncate">
        {name}: <span className="id-text">{value}</span>
      </span>
      <X aria-hidden />
    </Button>
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
    <Field label={label} className="sm:w-56">
      {(control) => (
        <DebouncedInput {...control} {...rest} accepts={(text) => PATTERNS.safeIdentifier.test(text)} />
      )}
    </Field>
  )
}
