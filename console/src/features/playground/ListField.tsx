/** The items of a list: added at the end, removed anywhere. */

import { Plus, Trash2 } from "lucide-react"
import { useEffect, useId, useRef } from "react"

import type { Json } from "@/api/contract.gen"
import { childPointer } from "@/api/json"
import { Button } from "@/components/Button"
import { GroupHead, OwnViolations } from "@/features/playground/FieldGroup"
import { SchemaField, type SchemaFieldProps } from "@/features/playground/SchemaField"
import { useInputForm } from "@/features/playground/formContext"
import { begun } from "@/features/playground/formValue"
import { formField, hintOf, type Control, type FormField } from "@/features/playground/schemaForm"

interface ListFieldProps extends Omit<SchemaFieldProps, "value"> {
  readonly field: FormField
  readonly control: Extract<Control, { kind: "list" }>
  readonly value: ReadonlyArray<Json> | undefined
}

const CONTROLS = "input, textarea, select, button"

export function ListField({
  label,
  required,
  pointer,
  depth,
  field,
  control,
  value,
  onChange,
}: ListFieldProps) {
  const { root } = useInputForm()
  const id = useId()
  const list = useRef<HTMLUListElement>(null)
  const adder = useRef<HTMLButtonElement>(null)
  const hasAdded = useRef(false)
  const items = value ?? []
  const itemField = formField(control.item, root, depth + 1)
  // Its button stands beside its first line: the head of a group, else the control, which is below its label.
  const isGroup = itemField.control.kind === "list" || itemField.control.kind === "object"
  const each = hintOf(itemField)
  const hints = [hintOf(field), each === undefined ? undefined : `each: ${each}`]
    .filter((hint) => hint !== undefined)
    .join("; ")
  useEffect(() => {
    // The keyboard goes on in what was just added.
    if (hasAdded.current) list.current?.lastElementChild?.querySelector<HTMLElement>(CONTROLS)?.focus()
    hasAdded.current = false
  }, [items.length])
  const add = () => {
    hasAdded.current = true
    onChange([...items, begun(control.item, root, depth + 1)])
  }
  const remove = (index: number) => {
    const rest = items.filter((_, other) => other !== index)
    onChange(rest.length === 0 && !required ? undefined : rest)
    adder.current?.focus()
  }
  return (
    <div role="group" aria-labelledby={id} className="min-w-0 space-y-3 rounded-md border border-line p-3">
      <GroupHead id={id} label={label} required={required} hint={hints} />
      <OwnViolations pointer={pointer} />
      <ul ref={list} className="space-y-3 empty:hidden">
        {items.map((item, index) => (
          <li key={index} className="flex items-start gap-1">
            <div className="min-w-0 flex-1">
              <SchemaField
                schema={control.item}
                label={`${label} ${index + 1}`}
                required
                isItem
                pointer={childPointer(pointer, index)}
                depth={depth + 1}
                value={item}
                onChange={(next) => onChange(items.map((kept, at) => (at === index ? (next ?? null) : kept)))}
              />
            </div>
            <Button
              tone="quiet"
              size="iconSmall"
              className={isGroup ? undefined : "mt-6.5"}
              aria-label={`Remove ${label} ${index + 1}`}
              onClick={() => remove(index)}
            >
              <Trash2 aria-hidden />
            </Button>
          </li>
        ))}
      </ul>
      <Button
        ref={adder}
        size="small"
        disabled={control.maxItems !== undefined && items.length >= control.maxItems}
        onClick={add}
      >
        <Plus aria-hidden />
        Add to {label}
      </Button>
    </div>
  )
}
