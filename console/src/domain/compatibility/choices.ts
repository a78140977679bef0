/** The choices that a schema leaves: each branch, reference and condition decided, in bounded number. */

import type { Json } from "@/api/contract.gen"
import { isList } from "@/api/json"
import type { Evaluation } from "@/domain/compatibility/evaluation"
import {
  arrayShape,
  numberShape,
  objectShape,
  stringShape,
  type Choice,
  type Shape,
} from "@/domain/compatibility/shapes"
import {
  keyOf,
  NEVER,
  refusal,
  together,
  Undecided,
  valueKey,
  type Steps,
  type Subschema,
  type Together,
} from "@/domain/compatibility/subschemas"

/** Of one schema at one location. */
const MAX_CHOICES = 64
/** Subschemas that apply at one location by one choice. */
const MAX_TOGETHER = 512
const TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]

/** By the subschemas that apply together; each is worked out once. */
export class Choices {
  private readonly known = new Map<string, ReadonlyArray<Shape>>()

  constructor(
    private readonly evaluation: Evaluation,
    private readonly steps: Steps,
  ) {}

  shapes(schemas: Together): ReadonlyArray<Shape> {
    const key = keyOf(schemas)
    const known = this.known.get(key)
    if (known !== undefined) return known
    const found = this.narrowed({ own: [], excluded: [] }, schemas)
    this.known.set(key, found)
    return found
  }

  /** The shapes of what satisfies both. */
  narrowed(choice: Choice, schemas: Together): ReadonlyArray<Shape> {
    return this.ways(choice, schemas).flatMap((each) => this.shapesOf(each))
  }

  private ways(choice: Choice, schemas: Together): Choice[] {
    const ended: Choice[] = []
    const open: Array<{ way: Choice; waiting: Together }> = [{ way: choice, waiting: schemas }]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      this.steps.spend(1)
      const { way, waiting } = next
      const [first, ...rest] = waiting
      if (way.own.length + waiting.length > MAX_TOGETHER) throw new Undecided()
      if (first === undefined) ended.push(way)
      else if (first !== NEVER) {
        if (!first.isSupported) throw new Undecided()
        if (way.own.includes(first)) open.push({ way, waiting: rest })
        else open.push(...entered(way, first, rest).reverse())
      }
      if (open.length + ended.length > MAX_CHOICES) throw new Undecided()
    }
    return ended
  }

  private shapesOf(choice: Choice): Shape[] {
    let types = TYPES
    let values: ReadonlyArray<Json> | undefined
    for (const one of choice.own) {
      const allowed = typesOf(one)
      types = types.filter((type) => allowed.includes(type))
      values = common(values, listedValues(one), this.steps)
    }
    if (values !== undefined) return this.valuesShape(choice, values)
    return [
      ...this.valuesShape(choice, types.includes("null") ? [null] : []),
      ...this.valuesShape(choice, types.includes("boolean") ? [false, true] : []),
      ...(types.includes("integer") ? [numberShape(choice, !types.includes("number"))] : []),
      ...(types.includes("string") ? [stringShape(choice)] : []),
      ...(types.includes("array") ? [arrayShape(choice)] : []),
      ...(types.includes("object") ? [objectShape(choice)] : []),
    ]
  }

  private valuesShape(choice: Choice, values: ReadonlyArray<Json>): Shape[] {
    const possible = values.filter((value) => this.isPossible(choice, value))
    return possible.length > 0 ? [{ kind: "values", choice, kept: [], values: possible }] : []
  }

  private isPossible(choice: Choice, value: Json): boolean {
    return (
      choice.own.every((one) => this.evaluation.accepts([one], value) !== false) &&
      !choice.excluded.some((one) => this.evaluation.accepts([one], value) === true)
    )
  }
}

/** What must hold besides, and what must not. */
interface Branch {
  readonly held: Together
  readonly refused: Together
}

function entered(way: Choice, schema: Subschema, waiting: Together) {
  return branches(schema).map(({ held, refused }) => ({
    way: { own: [...way.own, schema], excluded: together(way.excluded, refused) },
    waiting: [...held, ...waiting],
  }))
}

/** The ways to satisfy the keywords that leave one; each goes with each. */
function branches(schema: Subschema): ReadonlyArray<Branch> {
  const listed = ["allOf", "anyOf", "oneOf"].map((keyword) => schema.listed(keyword).length)
  if (listed.reduce((sum, count) => sum + count, 0) > MAX_TOGETHER) throw new Undecided()
  const refused = schema.has("not") ? refusal(schema, schema.childAt("not")) : []
  let ways: ReadonlyArray<Branch> = [{ held: always(schema), refused }]
  for (const group of groups(schema)) {
    ways = ways.flatMap((way) =>
      group.map((more) => ({
        held: together(way.held, more.held),
        refused: [...way.refused, ...more.refused],
      })),
    )
    if (ways.length > MAX_CHOICES) throw new Undecided()
  }
  return ways
}

function groups(schema: Subschema): ReadonlyArray<ReadonlyArray<Branch>> {
  const found: Array<ReadonlyArray<Branch>> = []
  if (schema.has("anyOf")) found.push(schema.listed("anyOf").map((held) => ({ held, refused: [] })))
  if (schema.has("oneOf")) {
    const listed = schema.listed("oneOf")
    const others = (at: number) =>
      together(...listed.filter((_, index) => index !== at).map((branch) => refusal(schema, branch)))
    found.push(listed.map((held, at) => ({ held, refused: others(at) })))
  }
  if (schema.has("if")) {
    const condition = schema.childAt("if")
    found.push([
      { held: together(condition, schema.childAt("then")), refused: [] },
      { held: schema.childAt("else"), refused: refusal(schema, condition) },
    ])
  }
  return found
}

function always(schema: Subschema): Together {
  const found = [...schema.listed("allOf")]
  if (schema.has("$ref")) {
    const target = schema.target()
    if (target === undefined) throw new Undecided()
    found.push([target])
  }
  return together(...found)
}

function typesOf(schema: Subschema): ReadonlyArray<Json> {
  const type = schema.get("type")
  const found = type === undefined ? TYPES : isList(type) ? type : [type]
  return found.includes("number") ? [...found, "integer"] : found
}

function listedValues(schema: Subschema): ReadonlyArray<Json> | undefined {
  const constant = schema.get("const")
  if (constant !== undefined) return [constant] // an enum beside it takes part when values are evaluated
  const found = schema.get("enum")
  return isList(found) ? found : undefined
}

function common(
  values: ReadonlyArray<Json> | undefined,
  listed: ReadonlyArray<Json> | undefined,
  steps: Steps,
): ReadonlyArray<Json> | undefined {
  if (listed === undefined) return values
  steps.spend(listed.length)
  const keyed = new Map(listed.map((value) => [valueKey(value, steps), value]))
  if (values === undefined) return [...keyed.values()]
  return values.filter((value) => keyed.has(valueKey(value, steps)))
}
