/** What was expected where a request broke a rule, as a sentence that stands next to its field or after its place. */

import { PLACES, RULES } from "@/api/contract.gen"
import { pointerSteps } from "@/api/json"
import type { Violation } from "@/api/problem"

/** The part of a request that these rules are about; all others are about its body. */
const PARTS: Readonly<Record<string, string>> = { path_value: "path", query_value: "query" }

/** "the text is too short: 1 to 120 characters", in the words of the contract. */
export function expectedOf({ pointer, rule }: Violation): string {
  const [sentence, withForm] = RULES[rule] ?? ["this value is not accepted", false]
  const form = PLACES[`${PARTS[rule] ?? "body"} ${pointer.replace(/\/\d+(?=\/|$)/g, "/*")}`]
  return withForm && form !== undefined ? `${sentence}: ${form}` : sentence
}

/** The same as a sentence of its own, next to the field. */
export function sentenceOf(violation: Violation): string {
  const expected = expectedOf(violation)
  return `${expected.charAt(0).toUpperCase()}${expected.slice(1)}.`
}

/** The place of a JSON Pointer in words: `/skills/0/id` is "skills 1, id". */
export function placeOf(pointer: string): string {
  return pointerSteps(pointer)
    .map((step) => (/^\d+$/.test(step) ? `\0${Number(step) + 1}` : `, ${step}`))
    .join("")
    .replaceAll("\0", " ")
    .replace(/^, /, "")
    .trim()
}
