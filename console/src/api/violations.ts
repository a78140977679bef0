/** What a broken rule means, as a sentence that stands next to its field, or after the name of the place. */

import { pointerSteps } from "@/api/json"

const PHRASES: Readonly<Record<string, string>> = {
  additional_member: "has an unknown member",
  const: "is not the only allowed value",
  depth: "is nested too deeply",
  enum: "is not one of the allowed values",
  exclusiveMaximum: "is too large",
  exclusiveMinimum: "is too small",
  format: "does not have the required form",
  maximum: "is too large",
  maxItems: "has too many items",
  maxLength: "is too long",
  maxProperties: "has too many members",
  minimum: "is too small",
  minItems: "has too few items",
  minLength: "is too short",
  minProperties: "has too few members",
  multipleOf: "is not a multiple of the required number",
  pattern: "does not have the required form",
  required: "is required",
  type: "has the wrong type",
  uniqueItems: "has the same item twice",
  too_many_kinds: "begins a window with too many kinds of calls; ask for a shorter one",
  "CARD-1": "is also the id of another Skill",
  "CARD-2": "is also the id of another permission",
  "CARD-3": "is not among the permissions of the Card",
  "CARD-4": "is not written as plain digits",
  "CARD-5": "is a number that cannot be kept exactly",
  "CARD-6": "is not a schema that the platform can check safely",
}

export function phraseOf(rule: string): string {
  return PHRASES[rule] ?? "is not accepted"
}

/** "Is too short.", next to the field. */
export function sentenceOf(rule: string): string {
  const phrase = phraseOf(rule)
  return `${phrase.charAt(0).toUpperCase()}${phrase.slice(1)}.`
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
