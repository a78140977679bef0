/** Which form a JSON Schema makes: one field for each member, and plain JSON where a schema says more than fields can. */

import type { Json, JsonObject } from "@/api/contract.gen"
import { isList, isObject, isScalar, ownMember } from "@/api/json"
import { memberNames, resolved, schemaOutline } from "@/domain/schemaOutline"

export interface Option {
  readonly value: Json
  readonly label: string
}

export interface FormMember {
  readonly name: string
  readonly schema: Json
  readonly required: boolean
}

export type Control =
  | { readonly kind: "text"; readonly multiline: boolean }
  | { readonly kind: "number" }
  | { readonly kind: "choice"; readonly options: ReadonlyArray<Option> }
  | { readonly kind: "object"; readonly members: ReadonlyArray<FormMember> }
  | { readonly kind: "list"; readonly item: Json; readonly maxItems?: number }
  | { readonly kind: "json" }

export interface FormField {
  readonly control: Control
  readonly nullable: boolean
  readonly title?: string
  readonly description?: string
  /** "1–500 characters", "default 3". */
  readonly hints: ReadonlyArray<string>
  readonly fallback?: Json
}

/** Objects and lists nested deeper than this are edited as JSON; it also ends schemas that refer to themselves. */
export const DEEPEST = 8
const MAX_LINE_LENGTH = 200
const MERGES = 4

/** The field of one schema; its members and items are asked for in turn, only where there is a value to show. */
export function formField(schema: Json, root: JsonObject, depth = 0): FormField {
  if (!isObject(schema)) return { control: { kind: "json" }, nullable: false, hints: [] }
  const { schema: plain, nullable } = simplified(resolved(schema, root), root)
  const control = depth > DEEPEST ? ({ kind: "json" } as const) : controlOf(plain, root)
  return {
    control: nullable && control.kind === "choice" ? withNull(control.options) : control,
    nullable: nullable && control.kind !== "choice" && control.kind !== "json",
    title: textOf(plain["title"]),
    description: textOf(plain["description"]),
    hints: ["choice", "object"].includes(control.kind) ? [] : hintsOf(plain),
    fallback: plain["default"],
  }
}

/** What is said about a field below it. */
export function hintOf({ description, hints }: FormField): string | undefined {
  const meaning = description
  // A pattern says something to people only where nothing else does.
  const bounds = hints.filter((hint) => meaning === undefined || !hint.startsWith("matches ")).join(" · ")
  if (meaning === undefined) return bounds || undefined
  return bounds === "" ? meaning : `${meaning} (${bounds})`
}

/** Without `null` and without alternatives of which only one is left. */
function simplified(
  schema: JsonObject,
  root: JsonObject,
  merges = MERGES,
): { readonly schema: JsonObject; readonly nullable: boolean } {
  for (const name of ["anyOf", "oneOf", "allOf"]) {
    const branches = schema[name]
    if (!isList(branches) || merges === 0) continue
    const plain = branches.map((branch) => (isObject(branch) ? resolved(branch, root) : {}))
    const others = name === "allOf" ? plain : plain.filter((branch) => !isNull(branch))
    const [only] = others
    if (only === undefined || others.length !== 1) continue
    const rest = Object.fromEntries(Object.entries(schema).filter(([other]) => other !== name))
    const inner = simplified({ ...only, ...rest }, root, merges - 1)
    return { schema: inner.schema, nullable: inner.nullable || others.length < plain.length }
  }
  const { type } = schema
  if (!isList(type) || !type.includes("null")) return { schema, nullable: false }
  const types = type.filter((each) => each !== "null")
  const [one] = types
  return {
    schema: { ...schema, type: types.length === 1 && one !== undefined ? one : types },
    nullable: true,
  }
}

function controlOf(schema: JsonObject, root: JsonObject): Control {
  const options = optionsOf(schema, root)
  if (options !== undefined) return { kind: "choice", options }
  if (["anyOf", "oneOf", "allOf"].some((name) => name in schema)) return { kind: "json" }
  switch (typeOf(schema)) {
    case "string":
      return { kind: "text", multiline: isLong(schema) }
    case "integer":
    case "number":
      return { kind: "number" }
    case "boolean":
      return { kind: "choice", options: [option(true), option(false)] }
    case "array":
      return listOf(schema)
    case "object":
      return objectOf(schema)
    default:
      return { kind: "json" }
  }
}

function optionsOf(schema: JsonObject, root: JsonObject): ReadonlyArray<Option> | undefined {
  if (schema["const"] !== undefined) return [option(schema["const"])]
  const { enum: values } = schema
  if (isList(values) && values.length > 0) return values.map((value) => option(value))
  const branches = schema["oneOf"] ?? schema["anyOf"]
  if (!isList(branches) || branches.length === 0) return undefined
  const options = branches.flatMap((branch) => {
    const plain = isObject(branch) ? resolved(branch, root) : {}
    return plain["const"] === undefined ? [] : [option(plain["const"], textOf(plain["title"]))]
  })
  return options.length === branches.length ? options : undefined
}

function objectOf(schema: JsonObject): Control {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {}
  const required = isList(schema["required"])
    ? schema["required"].filter((name) => typeof name === "string")
    : []
  const names = memberNames(schema)
  if (names.length === 0 && schema["additionalProperties"] !== false) return { kind: "json" }
  const members = names.map((name) => ({
    name,
    schema: ownMember(properties, name) ?? true,
    required: required.includes(name),
  }))
  return { kind: "object", members }
}

function listOf(schema: JsonObject): Control {
  const { items, maxItems } = schema
  if ("prefixItems" in schema || !isObject(items)) return { kind: "json" }
  return { kind: "list", item: items, maxItems: typeof maxItems === "number" ? maxItems : undefined }
}

function typeOf(schema: JsonObject): Json | undefined {
  if (schema["type"] !== undefined) return schema["type"]
  return isObject(schema["properties"]) ? "object" : undefined
}

function isLong(schema: JsonObject): boolean {
  if ("pattern" in schema || "format" in schema) return false
  const maxLength = schema["maxLength"]
  return typeof maxLength !== "number" || maxLength > MAX_LINE_LENGTH
}

function isNull(schema: JsonObject): boolean {
  return schema["type"] === "null" || ("const" in schema && schema["const"] === null)
}

function withNull(options: ReadonlyArray<Option>): Control {
  const hasNull = options.some(({ value }) => value === null)
  return { kind: "choice", options: hasNull ? options : [...options, option(null)] }
}

function option(value: Json, title?: string): Option {
  const plain = typeof value === "string" && value !== "" ? value : JSON.stringify(value)
  return { value, label: title === undefined ? plain : isScalar(value) ? `${title} (${plain})` : title }
}

function hintsOf(schema: JsonObject): ReadonlyArray<string> {
  const own = { ...schema, properties: null, items: null }
  return schemaOutline(own)[0]?.bounds ?? []
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined
}
