/** Finds a value that one schema accepts and another refuses, near the places where the two differ. */

import type { Json, JsonObject } from "@/api/contract.gen"
import type { Choices } from "@/domain/compatibility/choices"
import type { Evaluation } from "@/domain/compatibility/evaluation"
import { memberOptions } from "@/domain/compatibility/members"
import {
  itemAt,
  memberNames,
  mentionedNames,
  namedItems,
  type ArrayShape,
  type Counted,
  type NumberShape,
  type ObjectShape,
  type Shape,
} from "@/domain/compatibility/shapes"
import { namesOf, valueKey, type Steps, type Together } from "@/domain/compatibility/subschemas"

const MAX_DEPTH = 8
/** Of characters, items or members of a value that is made. */
const MAX_COUNT = 300
/** Values for one place inside another value. */
const MAX_TRIED = 3

type Values = Generator<Json, void>

/** Every value it gives is accepted and refused by `Evaluation`; not finding one means nothing. */
export class Examples {
  private depth = 0

  constructor(
    private readonly choices: Choices,
    private readonly evaluation: Evaluation,
    private readonly steps: Steps,
  ) {}

  /** Values of the one that the other refuses. */
  *between(accepted: Together, refused: Together): Values {
    if (this.depth >= MAX_DEPTH || refused.length === 0) return
    this.depth += 1
    try {
      for (const shape of this.choices.shapes(accepted)) {
        const others = this.choices.shapes(refused)
        for (const value of chained(this.near(shape, others), this.excluded(shape, others))) {
          if (this.evaluation.accepts(refused, value) === false && this.isIn(accepted, value)) yield value
        }
      }
    } finally {
      this.depth -= 1
    }
  }

  /** Some that satisfy them all, the plainest first. */
  private *values(schemas: Together): Values {
    if (this.depth >= MAX_DEPTH) return
    this.depth += 1
    try {
      for (const shape of this.choices.shapes(schemas)) {
        for (const value of this.near(shape, [])) if (this.isIn(schemas, value)) yield value
      }
    } finally {
      this.depth -= 1
    }
  }

  private isIn(schemas: Together, value: Json): boolean {
    return this.evaluation.accepts(schemas, value) === true
  }

  /** Values that may be of the shape, at its bounds and at those of the others. */
  private *near(shape: Shape, others: ReadonlyArray<Shape>): Values {
    switch (shape.kind) {
      case "values":
        yield* shape.values
        break
      case "number":
        yield* numbers([shape, ...others.filter((other) => other.kind === "number")])
        break
      case "string":
        for (const count of counts([shape, ...others.filter((other) => other.kind === "string")]))
          yield* ["a".repeat(count), "b".repeat(count)]
        break
      case "array":
        yield* this.arrays(
          shape,
          others.filter((other) => other.kind === "array"),
        )
        break
      case "object":
        yield* this.objects(
          shape,
          others.filter((other) => other.kind === "object"),
        )
    }
  }

  /** Values of the shape that satisfy what one of the others excludes. */
  private *excluded(shape: Shape, others: ReadonlyArray<Shape>): Values {
    for (const excluded of new Set(others.flatMap((other) => other.choice.excluded)))
      for (const narrowed of this.choices.narrowed(shape.choice, [excluded])) yield* this.near(narrowed, [])
  }

  private *arrays(shape: ArrayShape, others: ReadonlyArray<ArrayShape>): Values {
    for (const count of counts([shape, ...others])) yield this.array(shape, count)
    for (const other of others) {
      for (let at = 0; at <= Math.max(namedItems(shape), namedItems(other)); at += 1) {
        for (const item of first(MAX_TRIED, this.between(itemAt(shape, at), itemAt(other, at)))) {
          const made = this.array(shape, Math.max(shape.least, at + 1))
          yield [...made.slice(0, at), item, ...made.slice(at + 1)]
        }
      }
    }
    for (const repeated of first(1, this.values(itemAt(shape, 0))))
      yield Array.from({ length: Math.min(Math.max(shape.least, 2), MAX_COUNT) }, () => repeated)
  }

  /** Of so many items, or fewer when no more are found; where they must differ, they do. */
  private array(shape: ArrayShape, count: number): ReadonlyArray<Json> {
    const made: Json[] = []
    const taken = new Set<string>()
    for (let at = 0; at < Math.min(count, MAX_COUNT); at += 1) {
      const before = made.length
      for (const item of this.values(itemAt(shape, at))) {
        const key = valueKey(item, this.steps)
        if (shape.unique && taken.has(key)) continue
        taken.add(key)
        made.push(item)
        break
      }
      if (made.length === before) break
    }
    return made
  }

  private *objects(shape: ObjectShape, others: ReadonlyArray<ObjectShape>): Values {
    const base = this.object(shape)
    yield base
    const fresh = newName([shape, ...others])
    const mentioned = others.flatMap(mentionedNames)
    for (const name of new Set([...memberNames(shape), ...mentioned, ...this.refusedNames(others), fresh])) {
      for (const value of first(1, this.valuesOfMember(shape, name))) yield { ...base, [name]: value }
    }
    for (const other of others) {
      const named = namesOf([...shape.members, ...other.members].map((each) => each.properties))
      for (const name of new Set([...named, fresh])) {
        for (const value of first(MAX_TRIED, this.breaking(shape, other, name)))
          yield { ...base, [name]: value }
      }
    }
    for (const count of counts([shape, ...others]))
      if (count > Object.keys(base).length) yield this.grown(shape, base, count)
  }

  private *refusedNames(others: ReadonlyArray<ObjectShape>): Generator<string, void> {
    for (const kept of others.flatMap((other) => other.kept)) {
      if (kept.keyword !== "propertyNames") continue
      for (const name of this.between([], kept.inside.child(kept.value))) {
        if (typeof name !== "string") continue
        yield name
        break
      }
    }
  }

  private object(shape: ObjectShape): JsonObject {
    const made = [...shape.required]
      .sort()
      .flatMap((name) => first(1, this.valuesOfMember(shape, name)).map((value) => [name, value] as const))
    return this.grown(shape, Object.fromEntries(made), shape.least)
  }

  private grown(shape: ObjectShape, base: JsonObject, count: number): JsonObject {
    const made = new Map(Object.entries(base))
    const extra = Array.from({ length: MAX_COUNT - 1 }, (_, at) => `x${at + 1}`)
    for (const name of [...memberNames(shape), ...extra]) {
      if (made.size >= Math.min(count, MAX_COUNT)) break
      this.steps.spend(1)
      if (made.has(name)) continue
      for (const value of first(1, this.valuesOfMember(shape, name))) made.set(name, value)
    }
    return Object.fromEntries(made)
  }

  private *valuesOfMember(shape: ObjectShape, name: string): Values {
    for (const option of memberOptions(shape.members, name)) yield* this.values(option)
  }

  private *breaking(shape: ObjectShape, other: ObjectShape, name: string): Values {
    for (const option of memberOptions(shape.members, name))
      for (const outer of memberOptions(other.members, name)) yield* this.between(option, outer)
  }
}

function newName(shapes: ReadonlyArray<ObjectShape>): string {
  const taken = new Set(shapes.flatMap(memberNames))
  let number = 0
  while (taken.has(`x${number || ""}`)) number += 1
  return `x${number || ""}`
}

/** Lengths at and around the bounds. */
function counts(shapes: ReadonlyArray<Counted>): ReadonlyArray<number> {
  const bounds = shapes.flatMap(({ least, limit }) => [least - 1, least, limit, limit + 1])
  return [...new Set([0, 1, 2, ...bounds])]
    .filter((count) => count >= 0 && count <= MAX_COUNT)
    .sort((one, other) => one - other)
}

function* numbers(shapes: ReadonlyArray<NumberShape>): Values {
  const limits = shapes.flatMap((shape) => [shape.low, shape.high])
  const bounds = [0, ...limits.filter((bound) => Math.abs(bound) < Number.MAX_SAFE_INTEGER)]
  const steps = [1, ...shapes.flatMap((shape) => shape.steps)]
  for (const bound of bounds) {
    yield bound
    for (const step of steps) {
      const near = Math.floor(bound / step) * step
      yield* [bound - step, bound + step, near, near + step, near - step]
    }
    yield* [bound + 0.5, bound - 0.5, bound + 0.25]
  }
}

function* chained(...sources: ReadonlyArray<Values>): Values {
  for (const source of sources) yield* source
}

function first(count: number, values: Values): ReadonlyArray<Json> {
  const found: Json[] = []
  for (const value of values) {
    found.push(value)
    if (found.length >= count) break
  }
  return found
}
