/** A value that has no field of its own kind, as JSON; while the text is no JSON the form is unfinished. */

import { useEffect, useState } from "react"

import type { Json } from "@/api/contract.gen"
import { isSame } from "@/api/json"
import { TextArea, type ControlIds } from "@/components/Field"
import { escaped } from "@/components/text/hidden"
import { useInputForm } from "@/features/playground/formContext"
import { readValue } from "@/features/playground/inputText"

interface JsonFieldProps {
  readonly ids: ControlIds
  readonly pointer: string
  readonly value: Json | undefined
  readonly onChange: (value: Json | undefined) => void
}

export function JsonField({ ids, pointer, value, onChange }: JsonFieldProps) {
  const { onUnfinished } = useInputForm()
  const [typed, setTyped] = useState("")
  const [error, setError] = useState<string>()
  useEffect(() => () => onUnfinished(pointer, false), [onUnfinished, pointer])
  const meant = readValue(typed)
  const isMeant = error !== undefined || (meant.error === undefined && isSame(meant.value, value))
  const shown = isMeant ? typed : value === undefined ? "" : escaped(JSON.stringify(value, null, 2))
  const change = (text: string) => {
    const read = readValue(text)
    setTyped(text)
    setError(read.error)
    onUnfinished(pointer, read.error !== undefined)
    if (read.error === undefined) onChange(read.value)
  }
  return (
    <>
      <TextArea
        {...ids}
        aria-invalid={error === undefined ? ids["aria-invalid"] : true}
        placeholder="JSON"
        className="block field-sizing-content max-h-72 min-h-14 font-mono text-xs"
        value={shown}
        onChange={(event) => change(event.target.value)}
      />
      {error === undefined ? null : (
        <p role="alert" className="text-xs font-medium text-bad">
          {error}
        </p>
      )}
    </>
  )
}
