/** Whether a schema accepts a value, as far as that can be told without a regular expression. */

import type { Json, JsonObject } from "@/api/contract.gen"
import { asList, asObject, isList, isObject } from "@/api/json"
import { MAX_DEPTH, valueKey, type Steps, type Subschema, type Together } from "@/domain/subschemas"

/** Undefined: not known. */
export type Answer = boolean | undefined

const BRANCHES = ["allOf", "anyOf", "oneOf"]

/** All evaluations share their steps. */
export class Evaluation {
  private depth = 0
  private readonly constants = new Map<number, ReadonlySet<string>>()

  constructor(private readonly steps: Steps) {}

  accepts(schemas: Together, value: Json): Answer {
    return all(schemas, (schema) => this.one(schema, value))
  }

  private one(schema: Subschema, value: Json): Answer {
    if (schema.schema === false) return false
    this.steps.spend(1 + total(BRANCHES, (keyword) => schema.listed(keyword).length))
    if (this.depth >= MAX_DEPTH || !schema.isSupported) return undefined
    this.depth += 1
    const answer = all(this.questions(schema, value), (question) => question())
    this.depth -= 1
    return answer
  }

  private questions(schema: Subschema, value: Json): ReadonlyArray<() => Answer> {
    return [
      () => this.plain(schema, value),
      () => (typeof value === "string" ? ofText(schema, value) : true),
      () => (typeof value === "number" ? ofNumber(schema, value) : true),
      () => (isList(value) ? this.ofArray(schema, value) : true),
      () => (isObject(value) ? this.ofObject(schema, value) : true),
      () => this.inPlace(schema, value),
    ]
  }

  private plain(schema: Subschema, value: Json): boolean {
    const type = schema.get("type")
    if (type !== undefined && !(isList(type) ? type : [type]).some((name) => isOf(value, name))) return false
    if (!schema.has("const") && !schema.has("enum")) return true
    return this.constantsOf(schema).has(valueKey(value, this.steps))
  }

  /** The values that `const` and `enum` leave. */
  private constantsOf(schema: Subschema): ReadonlySet<string> {
    const known = this.constants.get(schema.number)
    if (known !== undefined) return known
    const listed = asList(schema.get("enum"))
    this.steps.spend(listed.length)
    const keys = new Set(listed.map((one) => valueKey(one, this.steps)))
    const constant = schema.get("const")
    const key = constant === undefined ? undefined : valueKey(constant, this.steps)
    const kept = key === undefined ? keys : new Set(!schema.has("enum") || keys.has(key) ? [key] : [])
    this.constants.set(schema.number, kept)
    return kept
  }

  private inPlace(schema: Subschema, value: Json): Answer {
    const accepted = (branch: Together) => this.accepts(branch, value)
    const target = schema.has("$ref") ? schema.target() : undefined
    const questions: Array<() => Answer> = []
    if (schema.has("$ref")) questions.push(() => (target === undefined ? undefined : this.one(target, value)))
    questions.push(() => all(schema.listed("allOf"), accepted))
    if (schema.has("anyOf"))
      questions.push(() => negated(all(schema.listed("anyOf"), (branch) => negated(accepted(branch)))))
    if (schema.has("oneOf")) questions.push(() => counted(schema.listed("oneOf").map(accepted), 1, 1))
    if (schema.has("not")) questions.push(() => negated(accepted(schema.childAt("not"))))
    if (schema.has("if")) questions.push(() => this.conditional(schema, value))
    return all(questions, (question) => question())
  }

  private conditional(schema: Subschema, value: Json): Answer {
    const condition = this.accepts(schema.childAt("if"), value)
    const then = () => this.accepts(schema.childAt("then"), value)
    const otherwise = () => this.accepts(schema.childAt("else"), value)
    if (condition === undefined) return all([then, otherwise], (branch) => sureOnly(branch()))
    return condition ? then() : otherwise()
  }

  private ofArray(schema: Subschema, value: ReadonlyArray<Json>): Answer {
    this.steps.spend(value.length)
    if (!isWithin(value.length, schema, "minItems", "maxItems")) return false
    if (schema.get("uniqueItems") === true) {
      if (new Set(value.map((item) => valueKey(item, this.steps))).size !== value.length) return false
    }
    const prefix = schema.listed("prefixItems")
    const rest = schema.childAt("items")
    const questions: Array<() => Answer> = value.map(
      (item, at) => () => this.accepts(prefix[at] ?? rest, item),
    )
    if (schema.has("contains")) {
      const inside = schema.childAt("contains")
      const [least, limit] = [schema.numberAt("minContains") ?? 1, schema.numberAt("maxContains") ?? Infinity]
      questions.push(() => {
        const found = value.map((item) => this.accepts(inside, item))
        return counted(found, least, limit)
      })
    }
    if (value.length > 0 && (schema.get("unevaluatedItems") ?? true) !== true) questions.push(() => undefined)
    return all(questions, (question) => question())
  }

  private ofObject(schema: Subschema, value: JsonObject): Answer {
    const names = Object.keys(value)
    const required = Object.entries(asObject(schema.get("dependentRequired")))
    const dependents = schema.named("dependentSchemas")
    this.steps.spend(names.length * (1 + schema.named("patternProperties").size))
    this.steps.spend(required.length + dependents.size)
    const holds = (name: Json) => typeof name === "string" && Object.hasOwn(value, name)
    if (!isWithin(names.length, schema, "minProperties", "maxProperties")) return false
    if (!asList(schema.get("required")).every(holds)) return false
    if (!required.every(([name, needed]) => !holds(name) || (isList(needed) && needed.every(holds))))
      return false
    const nothingMore = (schema.get("unevaluatedProperties") ?? true) === true && !schema.has("dependencies")
    return all(
      [
        () => all([...dependents], ([name, inside]) => !holds(name) || this.accepts(inside, value)),
        () => all(names, (name) => this.accepts(schema.childAt("propertyNames"), name)),
        () => this.ofMembers(schema, value),
        () => (names.length === 0 || nothingMore ? true : undefined),
      ],
      (question) => question(),
    )
  }

  private ofMembers(schema: Subschema, value: JsonObject): Answer {
    const properties = schema.named("properties")
    const patterns = [...schema.named("patternProperties").values()]
    const other = schema.childAt("additionalProperties")
    return all(Object.entries(value), ([name, member]) => {
      // Which patterns the name matches is not known, so only what all of them accept is.
      const matched = all(patterns, (pattern) => sureOnly(this.accepts(pattern, member)))
      const named = properties.get(name)
      const answer = this.accepts(named ?? other, member)
      const rest = named === undefined && patterns.length > 0 ? sureOnly(answer) : answer
      return all([matched, rest], (one) => one)
    })
  }
}

function ofText(schema: Subschema, value: string): Answer {
  if (!isWithin(Array.from(value).length, schema, "minLength", "maxLength")) return false
  return schema.has("pattern") ? undefined : true
}

function ofNumber(schema: Subschema, value: number): Answer {
  if (value < (schema.numberAt("minimum") ?? -Infinity) || value > (schema.numberAt("maximum") ?? Infinity))
    return false
  const [above, under] = [schema.numberAt("exclusiveMinimum"), schema.numberAt("exclusiveMaximum")]
  if ((above !== undefined && value <= above) || (under !== undefined && value >= under)) return false
  const step = schema.numberAt("multipleOf")
  if (step === undefined || value === 0) return true
  if (!Number.isSafeInteger(step) || Math.abs(value) > 2 ** 53) return undefined
  return value % step === 0
}

function isWithin(count: number, schema: Subschema, least: string, limit: string): boolean {
  return count >= (schema.numberAt(least) ?? 0) && count <= (schema.numberAt(limit) ?? Infinity)
}

function isOf(value: Json, type: Json): boolean {
  switch (type) {
    case "null":
      return value === null
    case "array":
      return isList(value)
    case "object":
      return isObject(value)
    case "integer":
      return typeof value === "number" && Number.isInteger(value)
    default:
      return typeof value === type
  }
}

function all<Item>(items: ReadonlyArray<Item>, ask: (item: Item) => Answer): Answer {
  let found: Answer = true
  for (const item of items) {
    const answer = ask(item)
    if (answer === false) return false
    if (answer === undefined) found = undefined
  }
  return found
}

function negated(answer: Answer): Answer {
  return answer === undefined ? undefined : !answer
}

/** A no that may not apply is not known. */
function sureOnly(answer: Answer): Answer {
  return answer === true ? true : undefined
}

function counted(answers: ReadonlyArray<Answer>, least: number, limit: number): Answer {
  const sure = answers.filter((answer) => answer === true).length
  const possible = answers.filter((answer) => answer !== false).length
  if (sure >= least && possible <= limit) return true
  return possible < least || sure > limit ? false : undefined
}

function total(items: ReadonlyArray<string>, count: (item: string) => number): number {
  return items.reduce((sum, item) => sum + count(item), 0)
}
