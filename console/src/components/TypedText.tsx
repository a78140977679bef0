/** A text that is told after a pause in typing, for searches and filters. */

import { useEffect, useId, useRef, useState } from "react"

import { TextInput } from "@/components/Field"

const PAUSE_MILLISECONDS = 250

interface TypedTextProps {
  readonly id?: string
  readonly label?: string
  readonly placeholder: string
  readonly value: string | undefined
  readonly className?: string
  readonly suggestions?: ReadonlyArray<string>
  readonly accepts: (text: string) => boolean
  readonly onChange: (value: string | undefined) => void
}

/** What could never match counts as nothing typed. */
export function TypedText(props: TypedTextProps) {
  const { id, label, placeholder, value, className, suggestions = [], accepts, onChange } = props
  const [typed, setTyped] = useState(value ?? "")
  const [told, setTold] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const list = useId()
  const tell = useRef(onChange)
  useEffect(() => () => clearTimeout(timer.current), [])
  useEffect(() => {
    // After the pause it is told to whoever listens then: other filters may have changed meanwhile.
    tell.current = onChange
  }, [onChange])
  if (value !== told) {
    // The address changed by other means: back, a link, Clear.
    setTold(value)
    setTyped(value ?? "")
  }
  const type = (text: string) => {
    setTyped(text)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      const next = accepts(text) ? text : undefined
      setTold(next)
      if (next !== value) tell.current(next)
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
