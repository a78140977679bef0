/** Looking into JSON whose shape belongs to someone else. */

import type { Json, JsonObject } from "@/api/contract.gen"

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

export function asObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

export function asList(value: Json | undefined): ReadonlyArray<Json> {
  return Array.isArray(value) ? (value as ReadonlyArray<Json>) : []
}

export function asNumber(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined
}

/** The reference tokens of a JSON Pointer: `/a~1b/0` is `a/b`, `0`. */
export function pointerSteps(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
}

/** The value at a JSON Pointer, or nothing. */
export function valueAt(value: Json | undefined, pointer: string): Json | undefined {
  return pointerSteps(pointer).reduce<Json | undefined>((found, step) => {
    if (Array.isArray(found)) return /^\d+$/.test(step) ? asList(found)[Number(step)] : undefined
    return isJsonObject(found) && Object.hasOwn(found, step) ? found[step] : undefined
  }, value)
}
