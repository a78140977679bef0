/** Single members of the Card as controls. */

import { useState } from "react"

import type { Json, JsonObject } from "@/api/contract.gen"
import { valueAt } from "@/api/json"
import { Field, Select, TextArea, TextInput } from "@/components/Field"
import { escaped } from "@/components/text/hidden"
import { ViolationTexts, type FoundViolation } from "@/components/ViolationText"
import { brokenAt, type Pointer } from "@/features/publish/cardDraft"

/** The Card that is edited, what is wrong with it, and how to change it. */
export interface Edited {
  readonly card: JsonObject
  readonly violations: ReadonlyArray<FoundViolation>
  readonly set: (pointer: Pointer, value: Json) => void
}

interface MemberProps extends Edited {
  readonly pointer: Pointer
  readonly label: string
  readonly hint?: string
  readonly className?: string
}

/** Nothing where no rule is broken. */
export function errorAt(violations: ReadonlyArray<FoundViolation>, pointer: Pointer, inside = false) {
  const found = brokenAt(violations, pointer, inside)
  return found.length === 0 ? undefined : <ViolationTexts violations={found} />
}

export function TextMember({
  card,
  violations,
  set,
  pointer,
  label,
  hint,
  className,
  long = false,
}: MemberProps & { readonly long?: boolean }) {
  const value = valueAt(card, pointer)
  const Control = long ? TextArea : TextInput
  return (
    <Field label={label} hint={hint} error={errorAt(violations, pointer)} className={className}>
      {(control) => (
        <Control
          {...control}
          value={typeof value === "string" ? value : ""}
          onChange={(event: { target: { value: string } }) => set(pointer, event.target.value)}
        />
      )}
    </Field>
  )
}

export function NumberMember({ card, violations, set, pointer, label, hint, className }: MemberProps) {
  const value = valueAt(card, pointer)
  return (
    <Field label={label} hint={hint} error={errorAt(violations, pointer)} className={className}>
      {(control) => (
        <TextInput
          {...control}
          inputMode="numeric"
          value={typeof value === "number" || typeof value === "string" ? value : ""}
          onChange={({ target }) =>
            set(pointer, /^[0-9]{1,15}$/.test(target.value) ? Number(target.value) : target.value)
          }
        />
      )}
    </Field>
  )
}

export function SelectMember({
  card,
  violations,
  set,
  pointer,
  label,
  hint,
  options,
}: MemberProps & { readonly options: ReadonlyArray<string> }) {
  const value = valueAt(card, pointer)
  return (
    <Field label={label} hint={hint} error={errorAt(violations, pointer)}>
      {(control) => (
        <Select
          {...control}
          value={typeof value === "string" ? value : ""}
          onChange={({ target }) => set(pointer, target.value)}
        >
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </Select>
      )}
    </Field>
  )
}

/** A JSON value of its own, a schema for instance; taken over whenever it can be read. */
export function JsonMember({ card, violations, set, pointer, label, hint }: MemberProps) {
  const value = valueAt(card, pointer)
  const [typed, setTyped] = useState<{ text: string; value: Json | undefined }>()
  // What was typed is kept as long as it stands for the value of the Card.
  const text =
    typed !== undefined && (typed.value === undefined || typed.value === value)
      ? typed.text
      : escaped(JSON.stringify(value, null, 2))
  const unreadable = typed !== undefined && typed.value === undefined
  const type = (next: string) => {
    try {
      const read = JSON.parse(next) as Json
      setTyped({ text: next, value: read })
      set(pointer, read)
    } catch {
      setTyped({ text: next, value: undefined })
    }
  }
  return (
    <Field
      label={label}
      hint={hint}
      error={unreadable ? "This is not JSON yet." : errorAt(violations, pointer, true)}
    >
      {(control) => (
        <TextArea
          {...control}
          value={text}
          onChange={({ target }) => type(target.value)}
          className="h-40 font-mono text-xs leading-5"
        />
      )}
    </Field>
  )
}
