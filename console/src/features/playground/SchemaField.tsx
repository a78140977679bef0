/** The field of one schema, with its bounds and what the Gateway said about it. */

import type { ReactNode } from "react"

import type { Json } from "@/api/contract.gen"
import { isList, isObject, isSame } from "@/api/json"
import { Checkbox, Field, Select, TextArea, TextInput, type ControlIds } from "@/components/Field"
import { useInputForm } from "@/features/playground/formContext"
import { numberProblem } from "@/features/playground/inputText"
import { JsonField } from "@/features/playground/JsonField"
import { ListField } from "@/features/playground/ListField"
import { NumberInput } from "@/features/playground/NumberInput"
import { ObjectField } from "@/features/playground/ObjectField"
import { formField, hintOf, type Control, type Option } from "@/features/playground/schemaForm"
import { ViolationTexts } from "@/components/ViolationText"

export interface SchemaFieldProps {
  readonly schema: Json
  /** The name of the member; its schema's title says it better. */
  readonly label: string
  readonly required: boolean
  /** One of a list: what holds for each of them is said once, at the list. */
  readonly isItem?: boolean
  readonly pointer: string
  readonly depth: number
  /** Nothing when the value does not have it. */
  readonly value: Json | undefined
  readonly onChange: (value: Json | undefined) => void
}

export function SchemaField(given: SchemaFieldProps) {
  const { root, violations } = useInputForm()
  const field = formField(given.schema, root, given.depth)
  const props = given.isItem === true ? given : { ...given, label: field.title ?? given.label }
  const own = violations.get(props.pointer) ?? []
  const { control } = field
  if (control.kind === "object" && (props.value === undefined || isObject(props.value)))
    return <ObjectField {...props} value={props.value} field={field} members={control.members} />
  if (control.kind === "list" && (props.value === undefined || isList(props.value)))
    return <ListField {...props} value={props.value} field={field} control={control} />
  const isNull = props.value === null && field.nullable
  const problem = control.kind === "number" && !isNull ? numberProblem(props.value) : undefined
  return (
    <Field
      label={props.label}
      required={props.required && props.isItem !== true}
      hint={props.isItem === true ? undefined : hintOf(field)}
      error={
        problem || own.length > 0 ? (
          <>
            {problem}
            <ViolationTexts violations={own} />
          </>
        ) : undefined
      }
    >
      {(ids) => (
        <>
          {isNull ? null : <ScalarControl {...props} ids={ids} control={control} />}
          {field.nullable ? (
            <Checkbox
              {...(isNull ? ids : {})}
              label={<span className="id-text">null</span>}
              aria-label={`${props.label}: null`}
              className="pt-1"
              checked={isNull}
              onChange={(event) => props.onChange(event.target.checked ? null : undefined)}
            />
          ) : null}
        </>
      )}
    </Field>
  )
}

interface ScalarControlProps extends SchemaFieldProps {
  readonly ids: ControlIds
  readonly control: Control
}

/** A value that the control cannot show as it is, is shown as JSON. */
function ScalarControl({ ids, control, value, required, pointer, onChange }: ScalarControlProps): ReactNode {
  if (control.kind === "choice")
    return (
      <Choice ids={ids} options={control.options} value={value} required={required} onChange={onChange} />
    )
  if (
    control.kind === "number" &&
    (value === undefined || typeof value === "number" || typeof value === "string")
  )
    return <NumberInput ids={ids} value={value} onChange={onChange} />
  if (control.kind !== "text" || (value !== undefined && typeof value !== "string"))
    return <JsonField ids={ids} pointer={pointer} value={value} onChange={onChange} />
  const change = (text: string) => onChange(text === "" && !required ? undefined : text)
  return control.multiline ? (
    <TextArea
      {...ids}
      rows={2}
      className="block field-sizing-content max-h-72 min-h-14"
      value={value ?? ""}
      onChange={(event) => change(event.target.value)}
    />
  ) : (
    <TextInput {...ids} value={value ?? ""} onChange={(event) => change(event.target.value)} />
  )
}

interface ChoiceProps {
  readonly ids: ControlIds
  readonly options: ReadonlyArray<Option>
  readonly value: Json | undefined
  readonly required: boolean
  readonly onChange: (value: Json | undefined) => void
}

const NOT_SET = ""
const FOREIGN = "foreign"

function Choice({ ids, options, value, required, onChange }: ChoiceProps) {
  const found = options.findIndex((option) => isSame(option.value, value))
  const chosen = value === undefined ? NOT_SET : found === -1 ? FOREIGN : String(found)
  return (
    <Select
      {...ids}
      value={chosen}
      onChange={(event) => {
        if (event.target.value !== FOREIGN) onChange(options[Number.parseInt(event.target.value, 10)]?.value)
      }}
    >
      {!required || chosen === NOT_SET ? <option value={NOT_SET}>not set</option> : null}
      {options.map((option, index) => (
        <option key={index} value={String(index)}>
          {option.label}
        </option>
      ))}
      {chosen === FOREIGN ? <option value={FOREIGN}>{JSON.stringify(value)}</option> : null}
    </Select>
  )
}
