/** The members of an object; an inner one that is absent can be added, an optional one removed. */

import { Plus, Trash2 } from "lucide-react"
import { useId } from "react"

import type { Json, JsonObject } from "@/api/contract.gen"
import { childPointer, ownMember, withMember } from "@/api/json"
import { Button } from "@/components/Button"
import { GroupHead, OwnViolations } from "@/features/playground/FieldGroup"
import { SchemaField, type SchemaFieldProps } from "@/features/playground/SchemaField"
import { useInputForm } from "@/features/playground/formContext"
import { begun, hiddenMembers } from "@/features/playground/formValue"
import { hintOf, type FormField, type FormMember } from "@/features/playground/schemaForm"

interface ObjectFieldProps extends Omit<SchemaFieldProps, "value"> {
  readonly field: FormField
  readonly members: ReadonlyArray<FormMember>
  readonly value: JsonObject | undefined
}

export function ObjectField(props: ObjectFieldProps) {
  const { label, schema, required, isItem = false, depth, value, field, onChange } = props
  const { root } = useInputForm()
  const id = useId()
  if (depth === 0) return <Members {...props} value={value ?? {}} />
  return (
    <div role="group" aria-labelledby={id} className="min-w-0 space-y-3 rounded-md border border-line p-3">
      <GroupHead
        id={id}
        label={label}
        required={required && !isItem}
        hint={isItem ? undefined : hintOf(field)}
      >
        {value === undefined ? (
          <Button size="small" onClick={() => onChange(begun(schema, root, depth))}>
            <Plus aria-hidden />
            Add {label}
          </Button>
        ) : required ? null : (
          <Button
            tone="quiet"
            size="iconSmall"
            aria-label={`Remove ${label}`}
            onClick={() => onChange(undefined)}
          >
            <Trash2 aria-hidden />
          </Button>
        )}
      </GroupHead>
      {value === undefined ? <OwnViolations pointer={props.pointer} /> : <Members {...props} value={value} />}
    </div>
  )
}

function Members({
  pointer,
  depth,
  value,
  members,
  onChange,
}: ObjectFieldProps & { readonly value: JsonObject }) {
  const hidden = hiddenMembers(members, value)
  const change = (name: string, member: Json | undefined) => onChange(withMember(value, name, member))
  return (
    <div className="space-y-4">
      <OwnViolations pointer={pointer} />
      {members.map((member) => (
        <SchemaField
          key={member.name}
          schema={member.schema}
          label={member.name}
          required={member.required}
          pointer={childPointer(pointer, member.name)}
          depth={depth + 1}
          value={ownMember(value, member.name)}
          onChange={(next) => change(member.name, next)}
        />
      ))}
      {members.length === 0 ? <p className="text-sm text-muted">Takes an object without members.</p> : null}
      {hidden.length > 0 ? (
        <p className="text-sm text-muted">
          Also set, and only shown as JSON: <span className="id-text">{hidden.join(", ")}</span>
        </p>
      ) : null}
    </div>
  )
}
