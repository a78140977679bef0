/** Ranges of time to look at: the usual ones by name, and how instants stand in controls of local time. */

export const PRESETS = ["15m", "1h", "24h", "7d"] as const
export type Preset = (typeof PRESETS)[number]

const MINUTE = 60_000

interface Range {
  readonly label: string
  readonly milliseconds: number
  /** In words, after "of" or "in": "the last hour". */
  readonly words: string
}

export const RANGES: Readonly<Record<Preset, Range>> = {
  "15m": { label: "15 min", milliseconds: 15 * MINUTE, words: "the last 15 minutes" },
  "1h": { label: "1 h", milliseconds: 60 * MINUTE, words: "the last hour" },
  "24h": { label: "24 h", milliseconds: 24 * 60 * MINUTE, words: "the last 24 hours" },
  "7d": { label: "7 d", milliseconds: 7 * 24 * 60 * MINUTE, words: "the last 7 days" },
}

/** When a range that ends now begins. */
export function startOf(preset: Preset, now: number): string {
  return new Date(now - RANGES[preset].milliseconds).toISOString()
}

/** The value of a local date and time control, to the minute or second, for an instant; and back. */
export function localTime(value: string | undefined): string {
  if (value === undefined) return ""
  const at = new Date(value)
  return new Date(at.getTime() - at.getTimezoneOffset() * MINUTE).toISOString().slice(0, 19)
}

export function instantOfLocal(local: string): string | undefined {
  const at = new Date(local)
  return local === "" || Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}
