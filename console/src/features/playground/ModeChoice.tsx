/** The mode of the answer: a stream of chunks, or one result. */

import { useId } from "react"

interface ModeChoiceProps {
  readonly stream: boolean
  readonly offersStream: boolean
  readonly onChange: (stream: boolean) => void
}

export function ModeChoice({ stream, offersStream, onChange }: ModeChoiceProps) {
  return (
    <fieldset className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
      <legend className="sr-only">Answer as</legend>
      <Mode
        label={offersStream ? "Stream" : "Stream (not offered by this Agent)"}
        checked={stream}
        disabled={!offersStream}
        onChoose={() => onChange(true)}
      />
      <Mode label="One JSON result" checked={!stream} onChoose={() => onChange(false)} />
    </fieldset>
  )
}

interface ModeProps {
  readonly label: string
  readonly checked: boolean
  readonly disabled?: boolean
  readonly onChoose: () => void
}

function Mode({ label, checked, disabled = false, onChoose }: ModeProps) {
  const id = useId()
  return (
    <span className="inline-flex items-center gap-1.5">
      <input
        id={id}
        type="radio"
        name="mode"
        className="size-4 accent-accent"
        checked={checked}
        disabled={disabled}
        onChange={onChoose}
      />
      <label htmlFor={id} className={disabled ? "text-muted" : undefined}>
        {label}
      </label>
    </span>
  )
}
