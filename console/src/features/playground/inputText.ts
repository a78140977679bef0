/** The input as JSON text: read strictly, and refused where a browser could not keep it as written. */

import type { Json } from "@/api/contract.gen"
import { escaped } from "@/components/text/hidden"
import { isSkillInput, type SkillInput } from "@/features/playground/formValue"

export type Read<Value> =
  | { readonly value: Value; readonly error?: undefined }
  | { readonly error: string; readonly value?: undefined }

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

export function readInput(text: string): Read<SkillInput> {
  const { value, error } = readValue(text)
  if (error !== undefined) return { error }
  return isSkillInput(value) ? { value } : { error: "The input must be a JSON object or a JSON string." }
}

/** Any JSON value; blank text is none. */
export function readValue(text: string): Read<Json | undefined> {
  if (text.trim() === "") return { value: undefined }
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch (failure) {
    return { error: `Not JSON: ${failure instanceof Error ? failure.message : "it cannot be read"}` }
  }
  const lost = (text.match(STRING_OR_NUMBER) ?? []).find((token) => !token.startsWith('"') && !isKept(token))
  return lost === undefined ? { value } : { error: tooLong(lost) }
}

export function writeInput(value: SkillInput): string {
  return escaped(JSON.stringify(value, null, 2))
}

/** What was typed into a number field: a number, nothing, or the text itself, which no schema takes for a number. */
export function readNumber(typed: string): number | string | undefined {
  const text = typed.trim()
  if (text === "") return undefined
  return NUMBER.test(text) && isKept(text) ? Number(text) : text
}

/** What is wrong with a value in a number field, if anything. */
export function numberProblem(value: Json | undefined): string | undefined {
  if (value === undefined || typeof value === "number") return undefined
  return typeof value === "string" && NUMBER.test(value) ? tooLong(value) : "Not a number."
}

function isKept(token: string): boolean {
  return /^-?\d+$/.test(token) ? Number.isSafeInteger(Number(token)) : Number.isFinite(Number(token))
}

function tooLong(token: string): string {
  return `A browser cannot keep the number ${token} exactly; use the command line for it.`
}
