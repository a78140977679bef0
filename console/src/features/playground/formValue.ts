/** Values of an input form: what it begins with, and which of its places have a field. */

import type { InvocationRequest, Json, JsonObject } from "@/api/contract.gen"
import { childPointer, isList, isObject, ownMember } from "@/api/json"
import { resolved } from "@/domain/schemaOutline"
import { formField, type FormMember } from "@/features/playground/schemaForm"

/** What a Skill takes: an object, or a text. */
export type SkillInput = InvocationRequest["input"]

export function isSkillInput(value: Json | undefined): value is SkillInput {
  return isObject(value) || typeof value === "string"
}

/** Whether the input is a text of the caller's own words. */
export function takesText(schema: JsonObject): boolean {
  return formField(schema, schema).control.kind === "text"
}

/** An input to begin with: the schema's own example, else its defaults and what is required and has one value. */
export function firstInput(schema: JsonObject): SkillInput {
  const plain = resolved(schema, schema)
  const examples = plain["examples"]
  const empty = emptyInput(schema)
  const given = [isList(examples) ? examples[0] : undefined, plain["default"]].filter(isSkillInput)
  return given.find((value) => typeof value === typeof empty) ?? empty
}

/** The same without the example. */
export function emptyInput(schema: JsonObject): SkillInput {
  const made = begun(schema, schema, 0)
  return isSkillInput(made) ? made : {}
}

/** The value a list gets with a new item, or a member that is added. */
export function begun(schema: Json, root: JsonObject, depth: number): Json {
  const { control, fallback } = formField(schema, root, depth)
  if (fallback !== undefined) return fallback
  switch (control.kind) {
    case "text":
      return ""
    case "choice":
      return control.options[0]?.value ?? null
    case "list":
      return []
    case "object":
      return Object.fromEntries(control.members.flatMap((member) => begunMember(member, root, depth)))
    default:
      return null
  }
}

/** The pointers of all fields that are shown for a value. */
export function fieldPointers(schema: JsonObject, value: Json): ReadonlySet<string> {
  const found = new Set<string>()
  collect(schema, schema, value, "", 0, found)
  return found
}

/** Members a value has and the form does not show. */
export function hiddenMembers(
  members: ReadonlyArray<FormMember>,
  value: Json | undefined,
): ReadonlyArray<string> {
  if (!isObject(value)) return []
  const shown = new Set(members.map((member) => member.name))
  return Object.keys(value).filter((name) => !shown.has(name))
}

function collect(
  schema: Json,
  root: JsonObject,
  value: Json | undefined,
  pointer: string,
  depth: number,
  found: Set<string>,
): void {
  found.add(pointer)
  const { control } = formField(schema, root, depth)
  if (control.kind === "list" && isList(value)) {
    value.forEach((item, index) =>
      collect(control.item, root, item, childPointer(pointer, index), depth + 1, found),
    )
  }
  if (control.kind !== "object" || !(depth === 0 || isObject(value))) return
  for (const member of control.members) {
    const inner = isObject(value) ? ownMember(value, member.name) : undefined
    collect(member.schema, root, inner, childPointer(pointer, member.name), depth + 1, found)
  }
}

function begunMember(member: FormMember, root: JsonObject, depth: number): Array<[string, Json]> {
  const { control, fallback } = formField(member.schema, root, depth + 1)
  if (fallback !== undefined) return [[member.name, fallback]]
  if (!member.required) return []
  const hasOneValue = control.kind === "choice" && control.options.length === 1
  if (!hasOneValue && control.kind !== "object" && control.kind !== "list") return []
  return [[member.name, begun(member.schema, root, depth + 1)]]
}
