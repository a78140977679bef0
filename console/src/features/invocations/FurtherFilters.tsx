/** Filters by Agent, Skill, caller, code, reason and Trace, and for roots alone. */

import { PATTERNS } from "@/api/contract.gen"
import { DebouncedInput } from "@/components/DebouncedInput"
import { Field, Select, Switch } from "@/components/Field"
import { CODES, reasonsOf, type ListSearch } from "@/features/invocations/search"

interface FurtherFiltersProps {
  readonly search: ListSearch
  readonly agents: ReadonlyArray<string>
  readonly capabilities: ReadonlyArray<string>
  readonly withRoots: boolean
  readonly onChange: (change: ListSearch) => void
}

const isIdentifier = (text: string) => PATTERNS.safeIdentifier.test(text)
const isTraceId = (text: string) => PATTERNS.traceId.test(text)

export function FurtherFilters({ search, agents, capabilities, withRoots, onChange }: FurtherFiltersProps) {
  return (
    <div className="grid grid-cols-2 items-end gap-3 sm:grid-cols-3 xl:flex xl:flex-wrap">
      <Field label="Agent" className="xl:w-36">
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
      <Field label="Skill" className="xl:w-36">
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
      <Field label="Caller" className="xl:w-28">
        {(control) => (
          <DebouncedInput
            {...control}
            placeholder="Account"
            value={search.caller}
            accepts={isIdentifier}
            onChange={(caller) => onChange({ caller })}
          />
        )}
      </Field>
      <CodeFilter search={search} onChange={onChange} />
      <ReasonFilter search={search} onChange={onChange} />
      <Field label="Trace" className="xl:w-32">
        {(control) => (
          <DebouncedInput
            {...control}
            placeholder="Trace id"
            value={search.trace}
            accepts={isTraceId}
            onChange={(trace) => onChange({ trace })}
          />
        )}
      </Field>
      {withRoots ? (
        <Switch
          label="Roots only"
          className="min-h-8"
          checked={search.root === true}
          onChange={(event) => onChange({ root: event.target.checked || undefined })}
        />
      ) : null}
    </div>
  )
}

type FilterProps = Pick<FurtherFiltersProps, "search" | "onChange">

function CodeFilter({ search, onChange }: FilterProps) {
  return (
    <Field label="Error code" className="xl:w-48">
      {(control) => (
        <Select
          {...control}
          value={search.code ?? ""}
          // A reason that cannot stand beside another code goes with it.
          onChange={(event) =>
            onChange({ code: CODES.find((code) => code === event.target.value), reason: undefined })
          }
        >
          <option value="">Any</option>
          {CODES.map((code) => (
            <option key={code}>{code}</option>
          ))}
        </Select>
      )}
    </Field>
  )
}

function ReasonFilter({ search, onChange }: FilterProps) {
  const reasons = reasonsOf(search.code)
  return (
    <Field label="Reason" className="xl:w-44">
      {(control) => (
        <Select
          {...control}
          value={search.reason ?? ""}
          onChange={(event) => onChange({ reason: reasons.find((reason) => reason === event.target.value) })}
        >
          <option value="">Any</option>
          {reasons.map((reason) => (
            <option key={reason}>{reason}</option>
          ))}
        </Select>
      )}
    </Field>
  )
}
