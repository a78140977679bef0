/** The rules of a JSON Schema that compare a value with a number or a name, each with what it says when broken. */

import type { Json } from "@/api/contract.gen"
import { asList, isList, isObject } from "@/api/json"
import { count, plural } from "@/components/format"

type Breaks<Value> = (value: Value, limit: number) => boolean

const TYPES: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  integer: "a whole number",
  null: "null",
  number: "a number",
  object: "an object",
  string: "a text",
}
const MAX_SHOWN = 80

const characters = (value: Json) => (typeof value === "string" ? Array.from(value).length : undefined)
const items = (value: Json) => (isList(value) ? value.length : undefined)
const members = (value: Json) => (isObject(value) ? Object.keys(value).length : undefined)

const SIZES = {
  minLength: { of: characters, unit: "character" },
  maxLength: { of: characters, unit: "character" },
  minItems: { of: items, unit: "item" },
  maxItems: { of: items, unit: "item" },
  minProperties: { of: members, unit: "member" },
  maxProperties: { of: members, unit: "member" },
} as const

type SizeRule = keyof typeof SIZES

export const SIZE_RULES: ReadonlyArray<{ readonly rule: SizeRule; readonly breaks: Breaks<Json> }> = (
  Object.keys(SIZES) as SizeRule[]
).map((rule) => ({
  rule,
  breaks: (value, limit) => {
    const size = SIZES[rule].of(value)
    return size !== undefined && (rule.startsWith("min") ? size < limit : size > limit)
  },
}))

export const NUMBER_RULES: ReadonlyArray<{
  readonly rule: string
  readonly breaks: Breaks<number>
  readonly says: (limit: number) => string
}> = [
  {
    rule: "minimum",
    breaks: (value, limit) => value < limit,
    says: (limit) => `Must be at least ${count(limit)}.`,
  },
  {
    rule: "maximum",
    breaks: (value, limit) => value > limit,
    says: (limit) => `Must be at most ${count(limit)}.`,
  },
  {
    rule: "exclusiveMinimum",
    breaks: (value, limit) => value <= limit,
    says: (limit) => `Must be more than ${count(limit)}.`,
  },
  {
    rule: "exclusiveMaximum",
    breaks: (value, limit) => value >= limit,
    says: (limit) => `Must be less than ${count(limit)}.`,
  },
  {
    rule: "multipleOf",
    // Only whole numbers divide without rounding.
    breaks: (value, step) =>
      Number.isSafeInteger(value) && Number.isSafeInteger(step) && step > 0 && value % step !== 0,
    says: (step) => `Must be a multiple of ${count(step)}.`,
  },
]

/** Nothing when the value has the type, or one of them. */
export function textOfType(type: Json | undefined, value: Json): string | undefined {
  const names = isList(type) ? type : type === undefined ? [] : [type]
  if (names.length === 0 || names.some((name) => isOf(value, name))) return undefined
  return `Must be ${names.map((name) => TYPES[typeof name === "string" ? name : ""] ?? "of another type").join(" or ")}.`
}

export function textOfChoice(allowed: ReadonlyArray<Json>): string {
  const listed = asList(allowed)
    .map((one) => (typeof one === "string" && one !== "" ? one : JSON.stringify(one)))
    .join(", ")
  if (listed.length > MAX_SHOWN) return "Is not one of the allowed values."
  return allowed.length === 1 ? `Must be ${listed}.` : `Must be one of ${listed}.`
}

export function textOfSize(rule: SizeRule, limit: number, value: Json): string {
  const { of, unit } = SIZES[rule]
  const size = of(value) ?? 0
  if (rule === "minLength" && size === 0) return "Must not be empty."
  const bound = `${rule.startsWith("min") ? "at least" : "at most"} ${plural(limit, unit)}`
  return size === 0 ? `Must have ${bound}.` : `Must have ${bound}; it has ${count(size)}.`
}

export function typeOf(value: Json): string {
  const name = value === null ? "null" : isList(value) ? "array" : typeof value
  return TYPES[name] ?? name
}

function isOf(value: Json, name: Json): boolean {
  if (name === "integer") return typeof value === "number" && Number.isInteger(value)
  if (name === "null") return value === null
  if (name === "array") return isList(value)
  return name === "object" ? isObject(value) : typeof value === name
}
