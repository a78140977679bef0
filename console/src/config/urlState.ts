/** View state in the URL: plain readable parameters; what cannot be read counts as absent. */

export type RawSearch = Readonly<Record<string, unknown>>

/** `?a=b` to members; a repeated parameter keeps its first value. */
export function parseSearch(text: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(text)) found[name] ??= value
  return found
}

/** Members to `?a=b`, in their order; absent and empty ones are left out. */
export function stringifySearch(search: RawSearch): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) {
    if (typeof value === "string" && value !== "") parameters.set(name, value)
    else if (typeof value === "boolean" || typeof value === "number") parameters.set(name, String(value))
  }
  const text = parameters.toString()
  return text === "" ? "" : `?${text}`
}

export function text(value: unknown, maxLength = 256): string | undefined {
  return typeof value === "string" && value.trim() !== "" && value.length <= maxLength ? value : undefined
}

export function matching(value: unknown, pattern: RegExp): string | undefined {
  return typeof value === "string" && pattern.test(value) ? value : undefined
}

export function flag(value: unknown): boolean | undefined {
  if (value === true || value === "true") return true
  return value === false || value === "false" ? false : undefined
}

export function oneOf<const Names extends readonly string[]>(
  value: unknown,
  names: Names,
): Names[number] | undefined {
  return typeof value === "string" && names.includes(value) ? value : undefined
}

/** A place inside the Console to go to after signing in; never another origin. */
export function ownPath(value: unknown): string | undefined {
  return typeof value === "string" && /^\/(?![/\\])[^\s\\]*$/.test(value) && !value.startsWith("/sign-in")
    ? value
    : undefined
}
