/** A sentence in parts: the plain text, and between backticks what one types. */

export interface Part {
  readonly text: string
  readonly isCommand: boolean
}

/** A backtick without a partner is a character like any other. */
export function partsOf(sentence: string): ReadonlyArray<Part> {
  const [first = "", ...others] = sentence.split("`")
  const parts: Part[] = [{ text: first, isCommand: false }]
  for (let at = 0; at < others.length; at += 2) {
    const [command = "", after] = others.slice(at, at + 2)
    if (after === undefined) parts.push({ text: `\`${command}`, isCommand: false })
    else parts.push({ text: command, isCommand: true }, { text: after, isCommand: false })
  }
  return parts.filter(({ text }) => text !== "")
}
