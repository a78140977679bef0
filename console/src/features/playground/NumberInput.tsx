/** A number as it is typed; text that is no number stays visible, and is what would be sent. */

import { useState } from "react"

import type { Json } from "@/api/contract.gen"
import { TextInput, type ControlIds } from "@/components/Field"
import { readNumber } from "@/features/playground/inputText"

interface NumberInputProps {
  readonly ids: ControlIds
  readonly value: number | string | undefined
  readonly onChange: (value: Json | undefined) => void
}

export function NumberInput({ ids, value, onChange }: NumberInputProps) {
  const [typed, setTyped] = useState("")
  // "1.0" and "1" are the same number; what was typed is shown for as long as it means the value.
  const shown = Object.is(readNumber(typed), value) ? typed : value === undefined ? "" : String(value)
  return (
    <TextInput
      {...ids}
      inputMode="decimal"
      className="max-w-48"
      value={shown}
      onChange={(event) => {
        setTyped(event.target.value)
        onChange(readNumber(event.target.value))
      }}
    />
  )
}
