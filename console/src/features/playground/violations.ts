/** Puts violations, found here or by the Gateway, next to the fields they are about. */

import type { SkillInput } from "@/features/playground/formValue"
import { isSame, valueAt } from "@/api/json"
import type { FoundViolation } from "@/components/ViolationText"

const INPUT = "/input"

/** Places of the request, for what was found in its input alone. */
export function ofInput(found: ReadonlyArray<FoundViolation>): ReadonlyArray<FoundViolation> {
  return found.map((violation) => ({ ...violation, pointer: INPUT + violation.pointer }))
}

/** By field: each violation at the innermost shown field that contains it, so that none is lost. */
export function placed(
  violations: ReadonlyArray<FoundViolation>,
  pointers: ReadonlySet<string>,
): ReadonlyMap<string, ReadonlyArray<FoundViolation>> {
  const found = new Map<string, ReadonlyArray<FoundViolation>>()
  for (const violation of violations) {
    const place = innermost(inside(violation.pointer), pointers)
    found.set(place, [...(found.get(place) ?? []), violation])
  }
  return found
}

/** Violations of what was sent that no later edit has touched. */
export function unresolved(
  violations: ReadonlyArray<FoundViolation>,
  sent: SkillInput,
  now: SkillInput,
): ReadonlyArray<FoundViolation> {
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
