/** Proves that whatever one schema accepts, another accepts too. No proof says nothing about the opposite. */

import type { Json } from "@/api/contract.gen"
import { asList, isList } from "@/api/json"
import type { Choices } from "@/domain/compatibility/choices"
import type { Evaluation } from "@/domain/compatibility/evaluation"
import { matching, memberOptions } from "@/domain/compatibility/members"
import {
  isWhole,
  itemAt,
  memberNames,
  namedItems,
  type ArrayShape,
  type Kept,
  type Members,
  type NumberShape,
  type ObjectShape,
  type Shape,
} from "@/domain/compatibility/shapes"
import {
  keyOf,
  MAX_DEPTH,
  namesOf,
  NEVER,
  Sameness,
  together,
  type Steps,
  type Subschema,
  type Together,
} from "@/domain/compatibility/subschemas"

/**
 * Schemas that refer to themselves are proved by induction over the size of values: a pair of schemas that is met
 * again below itself is taken for granted, because there it is about a smaller value.
 */
export class Containment {
  private readonly granted = new Set<string>()
  private readonly refused = new Set<string>()
  private readonly emptiness = new Map<string, boolean>()
  private readonly same: Sameness
  private depth = 0

  constructor(
    private readonly choices: Choices,
    private readonly evaluation: Evaluation,
    private readonly steps: Steps,
  ) {
    this.same = new Sameness(steps)
  }

  holds(inner: Together, outer: Together): boolean {
    const pair = `${keyOf(inner)}|${keyOf(outer)}`
    if (this.granted.has(pair) || outer.every((one) => inner.some((mine) => this.same.holds(mine, one))))
      return true
    if (this.refused.has(pair) || this.depth >= MAX_DEPTH) return false
    this.steps.spend(1)
    const before = this.granted.size
    this.granted.add(pair)
    this.depth += 1
    const proved = this.choices.shapes(inner).every((shape) => this.isCovered(shape, outer))
    this.depth -= 1
    if (!proved) {
      // What was proved since then may rest on this pair.
      for (const later of [...this.granted].slice(before)) this.granted.delete(later)
      this.refused.add(pair)
    }
    return proved
  }

  /** Whether it is proved that no value satisfies them all. */
  private isEmpty(schemas: Together): boolean {
    if (schemas.includes(NEVER)) return true
    const key = keyOf(schemas)
    const known = this.emptiness.get(key)
    if (known !== undefined || this.depth >= MAX_DEPTH) return known ?? false
    this.emptiness.set(key, false) // while it is worked out
    this.depth += 1
    const found = this.choices.shapes(schemas).every((shape) => this.hasNone(shape))
    this.depth -= 1
    this.emptiness.set(key, found)
    return found
  }

  private isCovered(shape: Shape, outer: Together): boolean {
    if (this.hasNone(shape)) return true
    if (shape.kind === "values")
      return shape.values.every((value) => this.evaluation.accepts(outer, value) === true)
    return this.choices.shapes(outer).some((other) => this.isWithin(shape, other))
  }

  private hasNone(shape: Shape): boolean {
    switch (shape.kind) {
      case "values":
        return shape.values.length === 0
      case "number":
        return shape.low > shape.high || (shape.low === shape.high && (shape.above || shape.under))
      case "string":
        return shape.least > shape.limit
      case "array":
        return shape.least > this.itemLimit(shape)
      case "object":
        this.steps.spend(shape.required.size * shape.members.length)
        return (
          shape.least > this.memberLimit(shape) ||
          [...shape.required].some((name) =>
            memberOptions(shape.members, name).every((option) => this.isEmpty(option)),
          )
        )
    }
  }

  /** The largest number of items, also where the schema of an item allows none. */
  private itemLimit(shape: ArrayShape): number {
    const named = namedItems(shape)
    this.steps.spend(named * shape.prefixes.length)
    for (let at = 0; at <= named && at < shape.limit; at += 1) {
      if (this.isEmpty(itemAt(shape, at))) return at
    }
    return shape.limit
  }

  private memberLimit(shape: ObjectShape): number {
    const closed = shape.members.filter((each) => each.patterns.size === 0 && this.isEmpty(each.other))
    return Math.min(shape.limit, ...closed.map((each) => each.properties.size))
  }

  private isWithin(shape: Shape, other: Shape): boolean {
    this.steps.spend(1)
    return this.fits(shape, other) && this.isOutside(shape, other) && this.keeps(shape, other)
  }

  private fits(shape: Shape, other: Shape): boolean {
    if (shape.kind === "number" && other.kind === "number") return isNumberWithin(shape, other)
    if (shape.kind === "string" && other.kind === "string")
      return other.least <= shape.least && shape.limit <= other.limit
    if (shape.kind === "array" && other.kind === "array") return this.isArrayWithin(shape, other)
    if (shape.kind === "object" && other.kind === "object") return this.isObjectWithin(shape, other)
    return false
  }

  /** Nothing of the shape is something that the other excludes. */
  private isOutside(shape: Shape, other: Shape): boolean {
    return other.choice.excluded.every(
      (one) =>
        shape.choice.excluded.some((excluded) => this.holds([one], [excluded])) ||
        this.narrowed(shape, one).every((narrowed) => this.hasNone(narrowed)),
    )
  }

  /** What of the shape satisfies the schema too. */
  private narrowed(shape: Shape, schema: Subschema): ReadonlyArray<Shape> {
    return this.choices
      .narrowed(shape.choice, [schema])
      .filter(
        (one) =>
          one.kind === shape.kind ||
          (one.kind === "values" && one.values.some((value) => kindOf(value) === shape.kind)),
      )
  }

  private keeps(shape: Shape, other: Shape): boolean {
    return other.kept.every((one) => shape.kept.some((mine) => this.isKept(mine, one)) || follows(shape, one))
  }

  private isKept(mine: Kept, other: Kept): boolean {
    return (
      mine.keyword === other.keyword && this.same.ofValues(mine.value, other.value, mine.inside, other.inside)
    )
  }

  private isArrayWithin(shape: ArrayShape, other: ArrayShape): boolean {
    const limit = this.itemLimit(shape)
    if (other.least > shape.least || limit > other.limit) return false
    if (other.unique && !shape.unique && limit > 1) return false
    const last = Math.min(Math.max(namedItems(shape), namedItems(other)) + 1, limit)
    for (let at = 0; at < last; at += 1) {
      if (!this.holds(itemAt(shape, at), itemAt(other, at))) return false
    }
    return true
  }

  private isObjectWithin(shape: ObjectShape, other: ObjectShape): boolean {
    const limit = this.memberLimit(shape)
    if (![...other.required].every((name) => shape.required.has(name))) return false
    if (other.least > shape.least || limit > other.limit) return false
    return limit === 0 || other.members.every((members) => this.areMembersWithin(shape, members))
  }

  private areMembersWithin(shape: ObjectShape, members: Members): boolean {
    const patterns = [...members.patterns]
    const covers = ([pattern, schemas]: readonly [string, Together], named: boolean) =>
      this.holds(matching(shape.members, pattern, named), schemas)
    if (!patterns.every((entry) => covers(entry, false))) return false
    const unshared = patterns.filter((entry) => !covers(entry, true)).map(([, schemas]) => schemas)
    const names = [...new Set([...memberNames(shape), ...namesOf([members.properties])])]
    this.steps.spend(names.length * shape.members.length)
    const allHold = (options: ReadonlyArray<Together>, outer: Together) =>
      options.every((option) => this.holds(option, outer))
    return (
      names.every((name) =>
        allHold(
          memberOptions(shape.members, name),
          together(members.properties.get(name) ?? members.other, ...unshared),
        ),
      ) && allHold(memberOptions(shape.members, undefined, members.patterns), members.other)
    )
  }
}

function isNumberWithin(shape: NumberShape, other: NumberShape): boolean {
  if (shape.low < other.low || (shape.low === other.low && other.above && !shape.above)) return false
  if (shape.high > other.high || (shape.high === other.high && other.under && !shape.under)) return false
  return (shape.integral || !other.integral) && other.steps.every((step) => isMultiple(shape, step))
}

function isMultiple(shape: NumberShape, step: number): boolean {
  if (shape.integral && step === 1) return true
  return shape.steps.some((one) => one === step || (isWhole(one) && isWhole(step) && one % step === 0))
}

/** Whether a constraint that is not kept holds all the same. */
function follows(shape: Shape, constraint: Kept): boolean {
  if (constraint.keyword !== "dependentRequired" || shape.kind !== "object") return false
  const needed = asList(constraint.value)[1]
  return typeof needed === "string" && shape.required.has(needed)
}

function kindOf(value: Json): string {
  return value !== null && typeof value === "object" ? (isList(value) ? "array" : "object") : typeof value
}
