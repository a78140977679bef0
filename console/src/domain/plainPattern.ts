/**
 * Patterns of strangers, as far as this browser can try them without danger. Its engine goes back and forth, so that a few
 * signs can keep it busy without end; the Gateway's does not.
 */

const ATOM = String.raw`(?:\\[dDwWsS.^$|?*+()[\]{}\\/-]|\[\^?(?:\\.|[^\]\\[])+\]|[^\\^$.|?*+()[\]{}]|\.)`
const REPEAT = String.raw`(?:[?*+]|\{\d{1,4}(?:,\d{0,4})?\})?`
const PLAIN = new RegExp(`^\\^?(?:${ATOM}${REPEAT})*\\$?$`, "u")
const REPEATS = new RegExp(`${ATOM}(${REPEAT})`, "gu")
/** What other alphabets count as digit, letter or space is not the same everywhere. */
const ASCII_LINE = /^[\x20-\x7e]*$/
const MAX_PATTERN = 200
const MAX_TEXT = 1_000
const MAX_WAYS = 1_000_000

/** Undefined: not told here. */
export function plainlyMatches(pattern: string, text: string): boolean | undefined {
  if (pattern.length > MAX_PATTERN || text.length > MAX_TEXT || !ASCII_LINE.test(text)) return undefined
  if (!PLAIN.test(pattern) || waysThrough(pattern, text.length) > MAX_WAYS) return undefined
  try {
    return new RegExp(pattern, "u").test(text)
  } catch {
    return undefined
  }
}

/** At most so many ways to lay the pattern over a text of that length are tried. */
function waysThrough(pattern: string, length: number): number {
  let ways = pattern.startsWith("^") ? 1 : length + 1
  for (const [, repeat = ""] of pattern.replace(/^\^/, "").matchAll(REPEATS)) ways *= choices(repeat, length)
  return ways
}

function choices(repeat: string, length: number): number {
  if (repeat === "") return 1
  if (repeat === "?") return 2
  const [, least, comma, most] = /^\{(\d+)(,)?(\d*)\}$/.exec(repeat) ?? []
  if (least === undefined) return length + 1
  if (comma === undefined) return 1
  return most === "" ? length + 1 : Math.min(Number(most) - Number(least), length) + 1
}
