/** A value that shows what a schema asks for: its own example when it has one, else one made from its members. */

import type { Json, JsonObject } from "@/api/contract.gen"
import { asList, asNumber, asObject, valueAt } from "@/api/json"

const DEEPEST = 6

export function schemaExample(schema: JsonObject): Json {
  return example(schema, schema, 0)
}

function example(schema: JsonObject, root: JsonObject, depth: number): Json {
  const given = firstGiven(schema)
  if (given !== undefined) return given
  const target = referenced(schema, root)
  if (target !== undefined && depth < DEEPEST) return example(target, root, depth + 1)
  for (const branch of ["anyOf", "oneOf", "allOf"]) {
    const [first] = asList(schema[branch])
    if (first !== undefined && depth < DEEPEST) return example(asObject(first), root, depth + 1)
  }
  return byType(schema, root, depth)
}

function firstGiven(schema: JsonObject): Json | undefined {
  if ("const" in schema) return schema["const"]
  const [first] = asList(schema["examples"])
  if (first !== undefined) return first
  if ("default" in schema) return schema["default"]
  return asList(schema["enum"])[0]
}

function byType(schema: JsonObject, root: JsonObject, depth: number): Json {
  const type = Array.isArray(schema["type"]) ? asList(schema["type"])[0] : schema["type"]
  switch (type) {
    case "string":
      return "text".padEnd(Math.min(asNumber(schema["minLength"]) ?? 0, 200), "x")
    case "integer":
    case "number":
      return exampleNumber(schema, type)
    case "boolean":
      return false
    case "null":
      return null
    case "array":
      return (asNumber(schema["minItems"]) ?? 0) > 0 && depth < DEEPEST
        ? [example(asObject(schema["items"]), root, depth + 1)]
        : []
    default:
      return "properties" in schema || type === "object" ? objectOf(schema, root, depth) : null
  }
}

const PLAUSIBLE = 10

/** A number as people would give it, not the least one that is allowed; a multiple where one is asked for. */
function exampleNumber(schema: JsonObject, type: "integer" | "number"): number {
  const whole = type === "integer" ? 1 : 0
  const least = asNumber(schema["minimum"]) ?? (asNumber(schema["exclusiveMinimum"]) ?? -Infinity) + whole
  const most = asNumber(schema["maximum"]) ?? (asNumber(schema["exclusiveMaximum"]) ?? Infinity) - whole
  const near = Math.min(Math.max(PLAUSIBLE, least), most)
  const step = asNumber(schema["multipleOf"]) ?? 0
  const multiple = step > 0 ? Math.ceil(near / step) * step : near
  return multiple <= most ? multiple : Math.floor(most / step) * step
}

/** The required members; all of them when none is required. */
function objectOf(schema: JsonObject, root: JsonObject, depth: number): JsonObject {
  if (depth >= DEEPEST) return {}
  const required = asList(schema["required"])
  const members = Object.entries(asObject(schema["properties"])).filter(
    ([name]) => required.length === 0 || required.includes(name),
  )
  return Object.fromEntries(
    members.map(([name, member]) => [name, example(asObject(member), root, depth + 1)]),
  )
}

function referenced(schema: JsonObject, root: JsonObject): JsonObject | undefined {
  const reference = schema["$ref"]
  if (typeof reference !== "string") return undefined
  return asObject(valueAt(root, reference.slice(1)))
}
