/** The normal form of a schema: shapes, each of values of one JSON type, whose union is what the schema accepts. */

import type { Json } from "@/api/contract.gen"
import { asList, asObject } from "@/api/json"
import { namesOf, together, type Subschema, type Together } from "@/domain/compatibility/subschemas"

/** A constraint that is not understood, only recognised where the other schema has the same. */
export interface Kept {
  readonly keyword: string
  readonly value: Json
  readonly inside: Subschema
}

/** One way to satisfy a schema: keywords of `own` without their branches hold, nothing of `excluded` does. */
export interface Choice {
  readonly own: Together
  readonly excluded: Together
}

interface ShapeBase {
  readonly choice: Choice
  readonly kept: ReadonlyArray<Kept>
}

/** Some of these values; the ones that are surely refused are left out. */
export interface ValuesShape extends ShapeBase {
  readonly kind: "values"
  readonly values: ReadonlyArray<Json>
}

export interface NumberShape extends ShapeBase {
  readonly kind: "number"
  readonly low: number
  readonly high: number
  /** Whether `low` itself is refused; `under` is the same of `high`. */
  readonly above: boolean
  readonly under: boolean
  readonly integral: boolean
  readonly steps: ReadonlyArray<number>
}

interface CountedShape extends ShapeBase {
  readonly least: number
  readonly limit: number
}

export interface StringShape extends CountedShape {
  readonly kind: "string"
}

export interface ArrayShape extends CountedShape {
  readonly kind: "array"
  readonly unique: boolean
  /** Of each keyword pair `prefixItems` and `items`: what applies to each position, and to the rest. */
  readonly prefixes: ReadonlyArray<readonly [ReadonlyArray<Together>, Together]>
}

/** What one subschema says of members. */
export interface Members {
  readonly properties: ReadonlyMap<string, Together>
  readonly patterns: ReadonlyMap<string, Together>
  readonly other: Together
}

export interface ObjectShape extends CountedShape {
  readonly kind: "object"
  readonly required: ReadonlySet<string>
  readonly members: ReadonlyArray<Members>
}

export type Counted = StringShape | ArrayShape | ObjectShape
export type Shape = ValuesShape | NumberShape | Counted

export function namedItems(shape: ArrayShape): number {
  return Math.max(0, ...shape.prefixes.map(([prefix]) => prefix.length))
}

export function itemAt(shape: ArrayShape, at: number): Together {
  return together(...shape.prefixes.map(([prefix, rest]) => prefix[at] ?? rest))
}

export function memberNames(shape: ObjectShape): ReadonlyArray<string> {
  return namesOf(shape.members.map((each) => each.properties))
}

/** Also the names on which others depend. */
export function mentionedNames(shape: ObjectShape): ReadonlyArray<string> {
  const depended = shape.kept
    .filter((one) => one.keyword === "dependentRequired")
    .flatMap((one) => texts(one.value)[0] ?? [])
  return [...memberNames(shape), ...depended]
}

export function numberShape(choice: Choice, onlyIntegers: boolean): NumberShape {
  let [low, above] = tightest(choice.own, "minimum", "exclusiveMinimum", 1)
  let [high, under] = tightest(choice.own, "maximum", "exclusiveMaximum", -1)
  const steps = [...new Set(choice.own.flatMap((one) => one.numberAt("multipleOf") ?? []))]
  const integral = onlyIntegers || steps.some(isWhole)
  if (integral) {
    ;[low, above] = firstWhole(low, above)
    const [negative, strict] = firstWhole(-high, under)
    ;[high, under] = [-negative, strict]
  }
  return { kind: "number", choice, kept: [], low, high, above, under, integral, steps }
}

function tightest(own: Together, plain: string, exclusive: string, sign: 1 | -1): [number, boolean] {
  let found: [number, boolean] = [-Infinity, false]
  for (const schema of own) {
    for (const [keyword, strict] of [[plain, false] as const, [exclusive, true] as const]) {
      const bound = schema.numberAt(keyword)
      if (bound === undefined) continue
      const signed = sign * bound
      if (signed > found[0] || (signed === found[0] && strict)) found = [signed, strict]
    }
  }
  return [sign * found[0], found[1]]
}

/** The least integer from there on; beyond 2^53 the bound stays, because it is one already. */
function firstWhole(low: number, above: boolean): [number, boolean] {
  if (Math.abs(low) > Number.MAX_SAFE_INTEGER) return [low, above]
  return [above ? Math.floor(low) + 1 : Math.ceil(low), false]
}

export function isWhole(value: number): boolean {
  return Number.isSafeInteger(value)
}

export function stringShape(choice: Choice): StringShape {
  const kept = choice.own.flatMap((one) => keptAt(one, "pattern"))
  return { kind: "string", choice, kept, ...counts(choice.own, "minLength", "maxLength") }
}

export function arrayShape(choice: Choice): ArrayShape {
  const kept = choice.own.flatMap((one) => [...keptContains(one), ...keptWhole(one, "unevaluatedItems")])
  const prefixes = choice.own
    .filter((one) => one.has("prefixItems") || one.has("items"))
    .map((one) => [one.listed("prefixItems"), one.childAt("items")] as const)
  const unique = choice.own.some((one) => one.get("uniqueItems") === true)
  return { kind: "array", choice, kept, unique, prefixes, ...counts(choice.own, "minItems", "maxItems") }
}

export function objectShape(choice: Choice): ObjectShape {
  const { least, limit } = counts(choice.own, "minProperties", "maxProperties")
  const required = new Set(choice.own.flatMap((one) => texts(one.get("required"))))
  const members = choice.own
    .filter((one) => one.has("properties") || one.has("patternProperties") || one.has("additionalProperties"))
    .map((one) => ({
      properties: one.named("properties"),
      patterns: one.named("patternProperties"),
      other: one.childAt("additionalProperties"),
    }))
  const kept = choice.own.flatMap(keptOfObjects)
  return { kind: "object", choice, kept, least: Math.max(least, required.size), limit, required, members }
}

function keptAt(inside: Subschema, keyword: string): Kept[] {
  const value = inside.get(keyword)
  return value === undefined ? [] : [{ keyword, value, inside }]
}

/** What it covers depends on all that stands beside it. */
function keptWhole(inside: Subschema, keyword: string): Kept[] {
  return inside.has(keyword) ? [{ keyword, value: inside.schema, inside }] : []
}

function keptContains(inside: Subschema): Kept[] {
  if (!inside.has("contains")) return []
  const value = ["contains", "minContains", "maxContains"].map((name) => inside.get(name) ?? null)
  return [{ keyword: "contains", value, inside }]
}

function keptOfObjects(inside: Subschema): Kept[] {
  const schemas = Object.entries(asObject(inside.get("dependentSchemas")))
  const names = Object.entries(asObject(inside.get("dependentRequired")))
  return [
    ...keptAt(inside, "propertyNames"),
    ...keptAt(inside, "dependencies"),
    ...schemas.map((entry) => ({
      keyword: "dependentSchemas",
      value: Object.fromEntries([entry]),
      inside,
    })),
    ...names.flatMap(([name, needed]) =>
      texts(needed).map((one) => ({ keyword: "dependentRequired", value: [name, one], inside })),
    ),
    ...keptWhole(inside, "unevaluatedProperties"),
  ]
}

function counts(own: Together, least: string, limit: string): { least: number; limit: number } {
  return {
    least: Math.max(0, ...own.map((one) => Math.ceil(one.numberAt(least) ?? 0))),
    limit: Math.min(...own.map((one) => Math.floor(one.numberAt(limit) ?? Infinity)), Infinity),
  }
}

function texts(value: Json | undefined): string[] {
  return asList(value).filter((text) => typeof text === "string")
}
