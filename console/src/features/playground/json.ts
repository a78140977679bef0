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

/** The value a JSON Pointer leads to; nothing when it leads nowhere. */
export function valueAt(value: Json, pointer: string): Json | undefined {
  return tokens(pointer).reduce<Json | undefined>((found, token) => {
    if (isList(found)) return /^\d+$/.test(token) ? found[Number(token)] : undefined
    return isObject(found) && Object.hasOwn(found, token) ? found[token] : undefined
  }, value)
}

export function below(pointer: string, token: string | number): string {
  return `${pointer}/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`
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

function tokens(pointer: string): ReadonlyArray<string> {
  return pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"))
}
