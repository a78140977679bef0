/** A text input that reports its value after a pause in typing, for searches and filters. */

import { useEffect, useId, useRef, useState } from "react"

import { TextInput } from "@/components/Field"

const PAUSE_MILLISECONDS = 250

interface DebouncedInputProps {
  readonly id?: string
  readonly label?: string
  readonly placeholder: string
  readonly value: string | undefined
  readonly className?: string
  readonly suggestions?: ReadonlyArray<string>
  readonly accepts: (text: string) => boolean
  readonly onChange: (value: string | undefined) => void
}

/** Text that cannot match counts as empty. */
export function DebouncedInput(props: DebouncedInputProps) {
  const { id, label, placeholder, value, className, suggestions = [], accepts, onChange } = props
  const [typed, setTyped] = useState(value ?? "")
  const [reported, setReported] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const list = useId()
  const report = useRef(onChange)
  useEffect(() => () => clearTimeout(timer.current), [])
  useEffect(() => {
    // The timer calls the newest callback: other filters may have changed meanwhile.
    report.current = onChange
  }, [onChange])
  if (value !== reported) {
    // The address changed by other means: back, a link, Clear.
    setReported(value)
    setTyped(value ?? "")
  }
  const type = (text: string) => {
    setTyped(text)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      const next = accepts(text) ? text : undefined
      setReported(next)
      if (next !== value) report.current(next)
    }, PAUSE_MILLISECONDS)
  }
  return (
    <>
      {suggestions.length > 0 ? (
        <datalist id={list}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} aria-label={suggestion} />
          ))}
        </datalist>
      ) : null}
      <TextInput
        id={id}
        type="search"
        aria-label={label}
        placeholder={placeholder}
        maxLength={256}
        list={suggestions.length > 0 ? list : undefined}
        value={typed}
        className={className}
        onChange={(event) => type(event.target.value)}
      />
    </>
  )
}
