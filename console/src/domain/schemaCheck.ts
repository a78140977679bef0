/** What a value breaks of a schema, found here before anything is sent: only what is sure, in a bounded number of steps. */

import type { Json, JsonObject } from "@/api/contract.gen"
import { asList, childPointer, isList, isObject } from "@/api/json"
import type { FoundViolation } from "@/components/ViolationText"
import { plainlyMatches } from "@/domain/plainPattern"
import { Evaluation } from "@/domain/schemaEvaluation"
import { NUMBER_RULES, SIZE_RULES, textOfChoice, textOfSize, textOfType, typeOf } from "@/domain/schemaRules"
import {
  SchemaDocument,
  Steps,
  Undecided,
  valueKey,
  type Subschema,
  type Together,
} from "@/domain/subschemas"

/** Whether a text matches a pattern; undefined where that is not told here. */
export type Matches = (pattern: string, text: string) => boolean | undefined

const MAX_STEPS = 10_000
const MAX_VIOLATIONS = 20
const MAX_DEPTH = 32
const CHARACTERS_PER_STEP = 64

/** What the Gateway would refuse as well; what is not told here, it tells. */
export function brokenRules(
  schema: JsonObject,
  value: Json,
  matches: Matches = plainlyMatches,
): ReadonlyArray<FoundViolation> {
  const check = new Check(new Steps(MAX_STEPS), matches)
  try {
    check.visit(new SchemaDocument(schema).root, value, "", 0)
  } catch (failure) {
    if (!(failure instanceof Undecided)) throw failure
  }
  return check.found.slice(0, MAX_VIOLATIONS)
}

class Check {
  readonly found: FoundViolation[] = []
  private readonly evaluation: Evaluation

  constructor(
    private readonly steps: Steps,
    private readonly matches: Matches,
  ) {
    this.evaluation = new Evaluation(steps)
  }

  visit(schema: Subschema, value: Json, pointer: string, depth: number): void {
    this.steps.spend(1)
    if (depth > MAX_DEPTH || this.found.length >= MAX_VIOLATIONS || !schema.isSupported) return
    const wrong = textOfType(schema.get("type"), value)
    if (wrong !== undefined) {
      this.add(pointer, "type", wrong)
      return
    }
    this.choice(schema, value, pointer)
    for (const { rule, breaks } of SIZE_RULES) {
      const limit = schema.numberAt(rule)
      if (limit !== undefined && breaks(value, limit)) this.add(pointer, rule, textOfSize(rule, limit, value))
    }
    if (typeof value === "string") this.text(schema, value, pointer)
    if (typeof value === "number") this.number(schema, value, pointer)
    if (isList(value)) this.list(schema, value, pointer, depth)
    if (isObject(value)) this.object(schema, value, pointer, depth)
    this.inPlace(schema, value, pointer, depth)
  }

  private all(schemas: Together, value: Json, pointer: string, depth: number): void {
    for (const schema of schemas) this.visit(schema, value, pointer, depth + 1)
  }

  private add(pointer: string, rule: string, says: string): void {
    this.found.push({ pointer, rule, says })
  }

  private choice(schema: Subschema, value: Json, pointer: string): void {
    for (const rule of ["const", "enum"] as const) {
      const listed = schema.get(rule)
      if (listed === undefined) continue
      const allowed = rule === "const" ? [listed] : asList(listed)
      this.steps.spend(allowed.length)
      const key = valueKey(value, this.steps)
      if (!allowed.some((one) => valueKey(one, this.steps) === key))
        this.add(pointer, rule, textOfChoice(allowed))
    }
  }

  private text(schema: Subschema, value: string, pointer: string): void {
    this.steps.spend(Math.floor(value.length / CHARACTERS_PER_STEP))
    const pattern = schema.get("pattern")
    if (typeof pattern === "string" && this.matches(pattern, value) === false)
      this.add(pointer, "pattern", value === "" ? "Must not be empty." : "Does not have the required form.")
  }

  private number(schema: Subschema, value: number, pointer: string): void {
    for (const { rule, breaks, says } of NUMBER_RULES) {
      const limit = schema.numberAt(rule)
      if (limit !== undefined && breaks(value, limit)) this.add(pointer, rule, says(limit))
    }
  }

  private list(schema: Subschema, value: ReadonlyArray<Json>, pointer: string, depth: number): void {
    const prefix = schema.listed("prefixItems")
    const rest = schema.childAt("items")
    value.forEach((item, at) => this.all(prefix[at] ?? rest, item, childPointer(pointer, at), depth))
    if (schema.get("uniqueItems") !== true) return
    const kinds = new Set(value.map((item) => valueKey(item, this.steps)))
    if (kinds.size < value.length) this.add(pointer, "uniqueItems", "Has the same item twice.")
  }

  private object(schema: Subschema, value: JsonObject, pointer: string, depth: number): void {
    for (const name of asList(schema.get("required"))) {
      if (typeof name === "string" && !Object.hasOwn(value, name))
        this.add(childPointer(pointer, name), "required", "Is required.")
    }
    const properties = schema.named("properties")
    // Which members a pattern takes in is not told here.
    const isClosed = schema.get("additionalProperties") === false && !schema.has("patternProperties")
    const others = schema.has("patternProperties") ? [] : schema.childAt("additionalProperties")
    for (const [name, member] of Object.entries(value)) {
      this.steps.spend(1)
      const named = properties.get(name)
      if (named !== undefined) this.all(named, member, childPointer(pointer, name), depth)
      else if (isClosed) this.add(pointer, "additional_member", `Has no member “${name}”.`)
      else this.all(others, member, childPointer(pointer, name), depth)
    }
  }

  private inPlace(schema: Subschema, value: Json, pointer: string, depth: number): void {
    const target = schema.has("$ref") ? schema.target() : undefined
    if (target !== undefined) this.visit(target, value, pointer, depth + 1)
    for (const branch of schema.listed("allOf")) this.all(branch, value, pointer, depth)
    for (const rule of ["anyOf", "oneOf"] as const) {
      if (schema.has(rule)) this.alternatives(rule, schema.listed(rule), value, pointer, depth)
    }
    if (schema.has("not") && this.evaluation.accepts(schema.childAt("not"), value) === true)
      this.add(pointer, "not", "Is not allowed here.")
    if (!schema.has("if")) return
    const condition = this.evaluation.accepts(schema.childAt("if"), value)
    if (condition !== undefined) this.all(schema.childAt(condition ? "then" : "else"), value, pointer, depth)
  }

  /** Where only one alternative has the value's type, what is wrong with that one says more. */
  private alternatives(
    rule: "anyOf" | "oneOf",
    branches: ReadonlyArray<Together>,
    value: Json,
    pointer: string,
    depth: number,
  ): void {
    const answers = branches.map((branch) => this.evaluation.accepts(branch, value))
    if (rule === "oneOf" && answers.filter((answer) => answer === true).length > 1)
      this.add(pointer, rule, "Fits more than one of the allowed forms.")
    if (answers.some((answer) => answer !== false)) return
    const near = branches.filter((branch) =>
      branch.every((one) => textOfType(one.get("type"), value) === undefined && one.schema !== false),
    )
    const [only] = near
    if (near.length === 1 && only !== undefined && !near.flat().some((one) => one.has("const"))) {
      const before = this.found.length
      this.all(only, value, pointer, depth)
      if (this.found.length > before) return
    }
    this.add(pointer, rule, `Does not fit any of the allowed forms of ${typeOf(value)}.`)
  }
}
