/** The input of a Skill: a text, or a value in two views, as a form and as JSON. */

import { Braces, Eraser, History, WandSparkles } from "lucide-react"
import { useMemo } from "react"

import type { JsonObject } from "@/api/contract.gen"
import type { RecentInput } from "@/api/recentInputs"
import { Button } from "@/components/Button"
import { Field, TextArea } from "@/components/Field"
import { Menu, MenuItem, MenuLabel } from "@/components/Menu"
import { Tabs } from "@/components/Tabs"
import { Time } from "@/components/Time"
import { escaped } from "@/components/text/hidden"
import { schemaExample } from "@/domain/schemaExample"
import { SchemaField } from "@/features/playground/SchemaField"
import { ViolationTexts, type FoundViolation } from "@/components/ViolationText"
import { FormContext } from "@/features/playground/formContext"
import {
  emptyInput,
  fieldPointers,
  isSkillInput,
  takesText,
  type SkillInput,
} from "@/features/playground/formValue"
import { readInput, writeInput } from "@/features/playground/inputText"
import { formField, hintOf } from "@/features/playground/schemaForm"
import { placed } from "@/features/playground/violations"

export interface EditedInput {
  readonly value: SkillInput
  /** The text of the JSON view, while it is not just the value written out. */
  readonly text?: string
}

interface InputEditorProps {
  readonly schema: JsonObject
  readonly input: EditedInput
  readonly violations: ReadonlyArray<FoundViolation>
  /** What was run before in this tab, newest first. */
  readonly recent: ReadonlyArray<RecentInput>
  readonly view: "form" | "json"
  readonly onView: (view: "form" | "json") => void
  readonly onChange: (input: EditedInput) => void
  readonly onUnfinished: (pointer: string, isUnfinished: boolean) => void
}

export function InputEditor(props: InputEditorProps) {
  const { schema, input, view, onView, onChange } = props
  const isText = takesText(schema)
  const hasForm = isText || formField(schema, schema).control.kind === "object"
  const isReadable = input.text === undefined || readInput(input.text).error === undefined
  const json = { name: "json" as const, label: "JSON", content: <JsonInput {...props} /> }
  const form = {
    name: "form" as const,
    label: isText ? "Text" : "Form",
    content: isText ? <TextBox {...props} /> : isReadable ? <InputForm {...props} /> : <Unread />,
  }
  return (
    <div className="relative">
      <div className="absolute top-1 right-0 z-10 flex gap-1">
        <RecentInputs recent={props.recent} onChoose={(value) => onChange({ value })} />
        <Button tone="quiet" size="small" onClick={() => onChange({ value: example(schema) })}>
          <WandSparkles aria-hidden />
          <Label text="Example" />
        </Button>
        <Button tone="quiet" size="small" onClick={() => onChange({ value: emptyInput(schema) })}>
          <Eraser aria-hidden />
          <Label text="Clear" />
        </Button>
      </div>
      <Tabs
        label="Input"
        value={isText ? "form" : hasForm ? view : "json"}
        onChange={onView}
        tabs={isText ? [form] : hasForm ? [form, json] : [json]}
      />
    </div>
  )
}

/** Where there is no room beside the tabs, the icon stands for it. */
function Label({ text }: { readonly text: string }) {
  return <span className="max-sm:sr-only">{text}</span>
}

const MAX_SHOWN = 60

interface RecentInputsProps {
  readonly recent: ReadonlyArray<RecentInput>
  readonly onChoose: (input: SkillInput) => void
}

/** Nothing until something has run. */
function RecentInputs({ recent, onChoose }: RecentInputsProps) {
  if (recent.length === 0) return null
  return (
    <Menu
      trigger={
        <Button tone="quiet" size="small">
          <History aria-hidden />
          <Label text="Recent" />
        </Button>
      }
    >
      <MenuLabel>Kept in this tab until you sign out</MenuLabel>
      {recent.map(({ input, at }) => (
        <MenuItem key={at} className="flex-col items-start gap-0" onSelect={() => onChoose(input)}>
          <span className="max-w-72 truncate id-text">{brief(input)}</span>
          <span className="text-xs text-muted">
            <Time at={new Date(at).toISOString()} />
          </span>
        </MenuItem>
      ))}
    </Menu>
  )
}

function brief(input: SkillInput): string {
  const text = typeof input === "string" ? input : JSON.stringify(input)
  return escaped(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text)
}

/** Sent as it is typed, line breaks included. */
function TextBox({ schema, input, violations, onChange }: InputEditorProps) {
  return (
    <Field
      label="Input as text"
      hint={hintOf(formField(schema, schema))}
      error={violations.length > 0 ? <ViolationTexts violations={violations} /> : undefined}
    >
      {(ids) => (
        <TextArea
          {...ids}
          className="block field-sizing-content max-h-[32rem] min-h-32"
          value={typeof input.value === "string" ? input.value : ""}
          onChange={(event) => onChange({ value: event.target.value })}
        />
      )}
    </Field>
  )
}

function InputForm({ schema, input, violations, onChange, onUnfinished }: InputEditorProps) {
  const form = useMemo(
    () => ({
      root: schema,
      violations: placed(violations, fieldPointers(schema, input.value)),
      onUnfinished,
    }),
    [schema, input.value, violations, onUnfinished],
  )
  return (
    <FormContext value={form}>
      <SchemaField
        schema={schema}
        label="input"
        required
        pointer=""
        depth={0}
        value={input.value}
        onChange={(value) => onChange({ value: isSkillInput(value) ? value : {} })}
      />
    </FormContext>
  )
}

function Unread() {
  return (
    <p role="alert" className="rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
      The JSON view holds text that is not a JSON object or string. Correct it there, or press Clear.
    </p>
  )
}

function JsonInput({ input, violations, onChange }: InputEditorProps) {
  const text = input.text ?? writeInput(input.value)
  const { error } = readInput(text)
  const change = (typed: string) => {
    const read = readInput(typed)
    // The last readable value is kept beside the text, so that nothing is lost while one types.
    onChange({ value: read.value ?? input.value, text: typed })
  }
  return (
    <div className="space-y-2">
      <Field
        label="Input as JSON"
        error={
          error !== undefined || violations.length > 0 ? (
            <>
              {error}
              <ViolationTexts violations={violations} />
            </>
          ) : undefined
        }
      >
        {(ids) => (
          <TextArea
            {...ids}
            className="block field-sizing-content max-h-[32rem] min-h-48 font-mono text-xs leading-5"
            value={text}
            onChange={(event) => change(event.target.value)}
          />
        )}
      </Field>
      <Button
        tone="quiet"
        size="small"
        disabled={error !== undefined}
        onClick={() => onChange({ value: input.value })}
      >
        <Braces aria-hidden />
        Format
      </Button>
    </div>
  )
}

function example(schema: JsonObject): SkillInput {
  const made = schemaExample(schema)
  return isSkillInput(made) ? made : {}
}
