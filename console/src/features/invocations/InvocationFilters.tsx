/** The filters of the list: those the Gateway offers. */

import { useQuery } from "@tanstack/react-query"
import { X } from "lucide-react"

import { PATTERNS } from "@/api/contract.gen"
import { whole } from "@/api/queries"
import { Button } from "@/components/Button"
import { DebouncedInput } from "@/components/DebouncedInput"
import { Field, Select, TextInput } from "@/components/Field"
import { stateLabel } from "@/domain/StateBadge"
import {
  instantOfLocal,
  isFiltered,
  localTime,
  NO_FILTERS,
  STATUSES,
  type InvocationsSearch,
} from "@/features/invocations/search"

interface InvocationFiltersProps {
  readonly workspaceId: string
  readonly search: InvocationsSearch
  /** Capabilities met so far, offered while typing. */
  readonly capabilities: ReadonlyArray<string>
  /** Gets what changes, never the whole: another filter may be on its way to the address. */
  readonly onChange: (change: InvocationsSearch) => void
}

const isIdentifier = (text: string) => PATTERNS.safeIdentifier.test(text)

export function InvocationFilters(props: InvocationFiltersProps) {
  const { workspaceId, search, capabilities, onChange } = props
  const { data: installations = [] } = useQuery(
    whole("listInstallations", { path: { workspaceId }, query: {} }),
  )
  const agents = [...new Set(installations.map((installation) => installation.agentId))].sort()
  return (
    <div role="search" className="mb-4 grid grid-cols-2 items-end gap-3 sm:grid-cols-3 xl:flex xl:flex-wrap">
      <Field label="Status" className="xl:w-32">
        {(control) => (
          <Select
            {...control}
            value={search.status ?? ""}
            onChange={(event) =>
              onChange({ status: STATUSES.find((status) => status === event.target.value) })
            }
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
      <Field label="Agent" className="xl:w-40">
        {(control) => (
          <DebouncedInput
            {...control}
            placeholder="Agent id"
            value={search.agent}
            suggestions={agents}
            accepts={isIdentifier}
            onChange={(agent) => onChange({ agent })}
          />
        )}
      </Field>
      <Field label="Capability" className="col-span-2 sm:col-span-1 xl:w-36">
        {(control) => (
          <DebouncedInput
            {...control}
            placeholder="Skill id"
            value={search.capability}
            suggestions={capabilities}
            accepts={isIdentifier}
            onChange={(capability) => onChange({ capability })}
          />
        )}
      </Field>
      <TimeFilter label="Created from" value={search.since} onChange={(since) => onChange({ since })} />
      <TimeFilter label="Created before" value={search.until} onChange={(until) => onChange({ until })} />
      {isFiltered(search) ? (
        <Button tone="quiet" className="justify-self-start" onClick={() => onChange(NO_FILTERS)}>
          <X aria-hidden />
          Clear
        </Button>
      ) : null}
    </div>
  )
}

interface TimeFilterProps {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
}

function TimeFilter({ label, value, onChange }: TimeFilterProps) {
  return (
    <Field label={label} className="col-span-2 sm:col-span-1 xl:w-48">
      {(control) => (
        <TextInput
          {...control}
          type="datetime-local"
          step={1}
          value={localTime(value)}
          onChange={(event) => onChange(instantOfLocal(event.target.value))}
        />
      )}
    </Field>
  )
}
