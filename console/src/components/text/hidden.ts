/** Texts that others wrote: the characters of them that are shown as marks, and what in a name misleads. */

import { CONFUSED_SCRIPTS, EMOJI_SELECTORS, HIDDEN_CHARACTERS, WORD_BREAKS } from "@/api/contract.gen"

export const MARK = "\ufffd"

type Ranges = ReadonlyArray<readonly [number, number, ...unknown[]]>

const selector = `(?<!${anyOf(EMOJI_SELECTORS.after)})${anyOf([EMOJI_SELECTORS.range])}`
const HIDDEN = new RegExp(`${anyOf(HIDDEN_CHARACTERS)}|${selector}`, "u")
const HIDDEN_ALL = new RegExp(HIDDEN.source, "gu")
const BETWEEN_WORDS = new RegExp(`${anyOf(WORD_BREAKS)}+`, "u")
const SCRIPTS = Object.values(CONFUSED_SCRIPTS).map((ranges) => new RegExp(anyOf(ranges), "u"))

/** A piece of a text as it is, or a hidden character in its place. */
export type Piece = string | { readonly hidden: string; readonly name: string }

/** Line feeds and tabs are no marks: a browser lets them draw nothing but room. */
export function pieces(text: string): ReadonlyArray<Piece> {
  if (!HIDDEN.test(text)) return [text]
  const found: Piece[] = []
  let kept = 0
  for (const match of text.matchAll(HIDDEN_ALL)) {
    if (isLayout(match[0])) continue
    if (match.index > kept) found.push(text.slice(kept, match.index))
    found.push({ hidden: match[0], name: nameOf(match[0]) })
    kept = match.index + match[0].length
  }
  if (kept < text.length) found.push(text.slice(kept))
  return found
}

/** For what can hold no element: an attribute, an option, the title of the tab. */
export function cleaned(text: string): string {
  return HIDDEN.test(text) ? text.replaceAll(HIDDEN_ALL, (sign) => (isLayout(sign) ? sign : MARK)) : text
}

/** JSON text of the same value, to be read and edited: such characters are spelled as escapes. */
export function escaped(json: string): string {
  return json.replaceAll(HIDDEN_ALL, (sign) => (isLayout(sign) ? sign : units(sign)))
}

/** Whether letters of scripts that are confused with one another stand in one word. */
export function mixesScripts(name: string): boolean {
  return name.split(BETWEEN_WORDS).some((word) => SCRIPTS.filter((script) => script.test(word)).length > 1)
}

/** "U+202E right-to-left override" */
function nameOf(sign: string): string {
  const code = sign.codePointAt(0) ?? 0
  const [, , name] =
    HIDDEN_CHARACTERS.find(([first, last]) => first <= code && code <= last) ?? EMOJI_SELECTORS.range
  return `U+${hex(code).toUpperCase()} ${name}`
}

function isLayout(sign: string): boolean {
  return sign === "\n" || sign === "\t"
}

function units(sign: string): string {
  return Array.from({ length: sign.length }, (_, at) => `\\u${hex(sign.charCodeAt(at))}`).join("")
}

function anyOf(ranges: Ranges): string {
  return `[${ranges.map(([first, last]) => `\\u{${hex(first)}}-\\u{${hex(last)}}`).join("")}]`
}

function hex(code: number): string {
  return code.toString(16).padStart(4, "0")
}
