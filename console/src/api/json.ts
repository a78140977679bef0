/** JSON values: what kind they are, whether two are the same, what is at a place inside one. */

import type { Json, JsonObject } from "@/api/contract.gen"

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

export function isList(value: Json | undefined): value is ReadonlyArray<Json> {
  return Array.isArray(value)
}

export function isScalar(value: Json | undefined): value is null | boolean | number | string {
  return value === null || (value !== undefined && typeof value !== "object")
}

export function asObject(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {}
}

export function asList(value: Json | undefined): ReadonlyArray<Json> {
  return isList(value) ? value : []
}

export function asNumber(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined
}

/** Equal as JSON; the order of members does not count. */
export function isSame(one: Json | undefined, other: Json | undefined): boolean {
  if (isList(one) && isList(other)) {
    return one.length === other.length && one.every((item, index) => isSame(item, other[index]))
  }
  if (isObject(one) && isObject(other)) {
    const names = Object.keys(one)
    return (
      names.length === Object.keys(other).length &&
      names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
    )
  }
  return one === other
}

/** The member of that name, never what objects inherit: a member may be called `__proto__`. */
export function ownMember(value: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(value, name) ? value[name] : undefined
}

/** The value with one member set, or left out when there is nothing to set. */
export function withMember(value: JsonObject, name: string, member: Json | undefined): JsonObject {
  const others = Object.entries(value).filter(([other]) => other !== name)
  if (member === undefined) return Object.fromEntries(others)
  if (!Object.hasOwn(value, name)) return Object.fromEntries([...others, [name, member]])
  return Object.fromEntries(
    Object.entries(value).map(([other, kept]) => [other, other === name ? member : kept]),
  )
}

/** The reference tokens of a JSON Pointer: `/a~1b/0` is `a/b`, `0`. */
export function pointerSteps(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
}

/** The JSON Pointer one step further in. */
export function childPointer(pointer: string, step: string | number): string {
  return `${pointer}/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`
}

/** The value at a JSON Pointer, or nothing. */
export function valueAt(value: Json | undefined, pointer: string): Json | undefined {
  return pointerSteps(pointer).reduce<Json | undefined>((found, step) => {
    if (isList(found)) return /^\d+$/.test(step) ? found[Number(step)] : undefined
    return isObject(found) ? ownMember(found, step) : undefined
  }, value)
}
