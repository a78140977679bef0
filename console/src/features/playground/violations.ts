/** Puts the Gateway's violations next to the fields they are about. */

import type { JsonObject } from "@/api/contract.gen"
import { isSame, valueAt } from "@/api/json"
import type { Violation } from "@/api/problem"

const INPUT = "/input"

const SENTENCES: Readonly<Record<string, string>> = {
  additional_member: "Has a member the Skill does not know.",
  const: "Must be one exact value.",
  depth: "Is nested too deeply.",
  enum: "Must be one of the listed values.",
  exclusiveMaximum: "Is too large.",
  exclusiveMinimum: "Is too small.",
  maximum: "Is too large.",
  maxItems: "Has too many items.",
  maxLength: "Is too long.",
  minimum: "Is too small.",
  minItems: "Has too few items.",
  minLength: "Is too short.",
  multipleOf: "Is not a multiple of the required number.",
  pattern: "Does not have the required form.",
  required: "Is required.",
  type: "Has the wrong type.",
  uniqueItems: "Has the same item twice.",
}

export function sentenceOf(rule: string): string {
  return SENTENCES[rule] ?? "Is not what the Skill takes."
}

/** By field: each violation at the innermost shown field that contains it, so that none is lost. */
export function placed(
  violations: ReadonlyArray<Violation>,
  pointers: ReadonlySet<string>,
): ReadonlyMap<string, ReadonlyArray<Violation>> {
  const found = new Map<string, ReadonlyArray<Violation>>()
  for (const violation of violations) {
    const place = innermost(inside(violation.pointer), pointers)
    found.set(place, [...(found.get(place) ?? []), violation])
  }
  return found
}

/** Violations of what was sent that no later edit has touched. */
export function unresolved(
  violations: ReadonlyArray<Violation>,
  sent: JsonObject,
  now: JsonObject,
): ReadonlyArray<Violation> {
  return violations.filter(({ pointer }) => {
    const place = inside(pointer)
    return isSame(valueAt(sent, place), valueAt(now, place))
  })
}

function inside(pointer: string): string {
  return pointer === INPUT || pointer.startsWith(`${INPUT}/`) ? pointer.slice(INPUT.length) : ""
}

function innermost(pointer: string, pointers: ReadonlySet<string>): string {
  let place = pointer
  while (place !== "" && !pointers.has(place)) place = place.slice(0, place.lastIndexOf("/"))
  return place
}
