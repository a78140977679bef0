/** Which options of a choice fit what was typed, and which is next. */

export interface ComboboxOption {
  readonly value: string
  readonly label: string
  /** A second line; the value itself where there is none. */
  readonly detail?: string
  readonly disabled?: boolean
}

/** Every word typed is in the name, the id or the second line; in any order. */
export function suggested(
  options: ReadonlyArray<ComboboxOption>,
  typed: string,
): ReadonlyArray<ComboboxOption> {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  return options.filter(({ value, label, detail = "" }) => {
    const text = `${label} ${value} ${detail}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** The next or the previous one; from the last on to the first. */
export function moved(
  options: ReadonlyArray<ComboboxOption>,
  from: string | undefined,
  by: 1 | -1,
): string | undefined {
  const at = options.findIndex(({ value }) => value === from)
  return options.at((at + by) % options.length)?.value
}
