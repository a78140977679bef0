/** A JSON Schema as people read it: its members with type, need, bounds and meaning. No validation happens here. */

import type { Json, JsonObject } from "@/api/contract.gen"
import { asNumber, asObject, isObject, ownMember, valueAt } from "@/api/json"
import { count, plural } from "@/components/format"

export interface SchemaMember {
  /** "notes", "items[].title"; the empty text for the value itself. */
  readonly path: string
  readonly type: string
  readonly required: boolean
  readonly description?: string
  /** "1–500 characters", "one of …", "default 10". */
  readonly bounds: ReadonlyArray<string>
}

const DEEPEST = 6
/** `field2` before `field10`. */
const BY_NAME = new Intl.Collator("en", { numeric: true })

/** The members of an object schema, nested ones after their parent; for another schema the value itself. */
export function schemaOutline(schema: JsonObject): ReadonlyArray<SchemaMember> {
  const found: SchemaMember[] = []
  const root = resolved(schema, schema)
  if (!isObject(root["properties"])) found.push(memberOf("", root, true))
  descend(root, schema, "", 0, found)
  return found
}

/**
 * The names of an object's members as people fill them in. A Card comes with its members sorted by name, so the list of
 * required ones is all that still has the order of its author: they come first, in that order.
 */
export function memberNames(schema: JsonObject): ReadonlyArray<string> {
  const { required } = schema
  const first = Array.isArray(required) ? required.filter((name) => typeof name === "string") : []
  const others = Object.keys(asObject(schema["properties"])).sort(BY_NAME.compare)
  return [...new Set([...first, ...others])]
}

function descend(
  node: JsonObject,
  root: JsonObject,
  path: string,
  depth: number,
  found: SchemaMember[],
): void {
  if (depth > DEEPEST) return
  const required = Array.isArray(node["required"]) ? node["required"] : []
  const properties = asObject(node["properties"])
  for (const name of memberNames(node)) {
    const child = ownMember(properties, name)
    if (child === undefined) continue
    const member = resolved(asObject(child), root)
    const place = path === "" ? name : `${path}.${name}`
    found.push(memberOf(place, member, required.includes(name)))
    descend(member, root, place, depth + 1, found)
  }
  if (isObject(node["items"])) descend(resolved(node["items"], root), root, `${path}[]`, depth + 1, found)
}

function memberOf(path: string, schema: JsonObject, required: boolean): SchemaMember {
  const description = schema["description"] ?? schema["title"]
  return {
    path,
    type: typeOf(schema),
    required,
    description: typeof description === "string" ? description : undefined,
    bounds: boundsOf(schema),
  }
}

function typeOf(schema: JsonObject): string {
  const { type } = schema
  if (type === "array" && isObject(schema["items"])) return `array of ${typeOf(schema["items"])}`
  if (typeof type === "string") return type
  if (Array.isArray(type)) return type.join(" or ")
  if (isObject(schema["properties"])) return "object"
  if ("enum" in schema || "const" in schema) return "choice"
  for (const branch of ["anyOf", "oneOf"]) {
    const options = schema[branch]
    if (Array.isArray(options))
      return [...new Set((options as Json[]).map((option) => typeOf(asObject(option))))].join(" or ")
  }
  return "any"
}

function boundsOf(schema: JsonObject): string[] {
  const bounds: string[] = []
  const range = (least: string, most: string, unit?: string) => {
    const sized = (size: number) => (unit === undefined ? count(size) : plural(size, unit))
    const low = asNumber(schema[least])
    const high = asNumber(schema[most])
    if (low === undefined && high === undefined) return
    if (high === undefined) bounds.push(`at least ${sized(low ?? 0)}`)
    else if (low === undefined) bounds.push(`at most ${sized(high)}`)
    else bounds.push(`${count(low)}–${sized(high)}`)
  }
  range("minLength", "maxLength", "character")
  range("minimum", "maximum")
  range("minItems", "maxItems", "item")
  if (Array.isArray(schema["enum"])) bounds.push(`one of ${schema["enum"].map(shown).join(", ")}`)
  if ("const" in schema) bounds.push(`always ${shown(schema["const"] ?? null)}`)
  if (typeof schema["pattern"] === "string") bounds.push(`matches ${schema["pattern"]}`)
  if (typeof schema["format"] === "string") bounds.push(schema["format"])
  if ("default" in schema) bounds.push(`default ${shown(schema["default"] ?? null)}`)
  return bounds
}

/** A schema with its local `$ref` followed; what stands beside the reference wins. */
export function resolved(schema: JsonObject, root: JsonObject, hops = 8): JsonObject {
  const reference = schema["$ref"]
  if (typeof reference !== "string" || hops === 0) return schema
  if (reference === "#") return root
  const target = valueAt(root, reference.slice(1))
  return isObject(target) ? { ...resolved(target, root, hops - 1), ...without(schema) } : schema
}

function without(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== "$ref"))
}

function shown(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value)
}
