/** Puts the Gateway's violations next to the fields they are about. */

import type { SkillInput } from "@/features/playground/formValue"
import { isSame, valueAt } from "@/api/json"
import type { Violation } from "@/api/problem"

const INPUT = "/input"

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
  sent: SkillInput,
  now: SkillInput,
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
