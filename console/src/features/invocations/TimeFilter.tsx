/** The time a list is about: one of the usual ranges, all of it, or two instants of one's own. */

import { useState } from "react"

import { Field, TextInput } from "@/components/Field"
import { RangeButton, RangeChoice } from "@/domain/RangeChoice"
import { instantOfLocal, localTime } from "@/domain/range"
import type { ListSearch } from "@/features/invocations/search"

interface TimeFilterProps {
  readonly search: ListSearch
  readonly onChange: (change: ListSearch) => void
}

const NO_TIME = { last: undefined, since: undefined, until: undefined }

export function TimeFilter({ search, onChange }: TimeFilterProps) {
  const hasOwn = search.since !== undefined || search.until !== undefined
  const [isPicking, setIsPicking] = useState(hasOwn)
  const isOwn = hasOwn || (isPicking && search.last === undefined)
  return (
    <>
      <RangeChoice value={search.last} onChange={(last) => onChange({ ...NO_TIME, last })}>
        <RangeButton
          isOn={search.last === undefined && !isOwn}
          onClick={() => {
            setIsPicking(false)
            onChange(NO_TIME)
          }}
        >
          All
        </RangeButton>
        <RangeButton
          isOn={isOwn}
          onClick={() => {
            setIsPicking(true)
            onChange({ last: undefined })
          }}
        >
          Pick…
        </RangeButton>
      </RangeChoice>
      {isOwn ? (
        <>
          <Instant label="Created from" value={search.since} onChange={(since) => onChange({ since })} />
          <Instant label="Created before" value={search.until} onChange={(until) => onChange({ until })} />
        </>
      ) : null}
    </>
  )
}

interface InstantProps {
  readonly label: string
  readonly value: string | undefined
  readonly onChange: (value: string | undefined) => void
}

function Instant({ label, value, onChange }: InstantProps) {
  return (
    <Field label={label} className="w-full sm:w-52">
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
