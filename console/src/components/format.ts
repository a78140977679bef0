/** How times, durations, sizes and long identifiers are written. */

const DATE_TIME = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" })
const CLOCK = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" })
const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" })
const DATE = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" })
const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" })
const NUMBER = new Intl.NumberFormat("en")
const STEPS: ReadonlyArray<[Intl.RelativeTimeFormatUnit, number]> = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
]

export function dateTime(timestamp: string): string {
  return DATE_TIME.format(new Date(timestamp))
}

export function date(timestamp: string): string {
  return DATE.format(new Date(timestamp))
}

/** "14:03:07" today, "2 Mar 14:03:07" on another day of the year, and with the year before that. */
export function shortDateTime(timestamp: string, now: number = Date.now()): string {
  const [at, today] = [new Date(timestamp), new Date(now)]
  if (at.toDateString() === today.toDateString()) return CLOCK.format(at)
  return at.getFullYear() === today.getFullYear() ? `${DAY.format(at)} ${CLOCK.format(at)}` : date(timestamp)
}

/** "5 min. ago", "in 2 days"; what is less than a minute away is "now". */
export function relative(timestamp: string, now: number = Date.now()): string {
  const seconds = (new Date(timestamp).getTime() - now) / 1000
  for (const [unit, length] of STEPS) {
    if (Math.abs(seconds) >= length) return RELATIVE.format(Math.trunc(seconds / length), unit)
  }
  return "now"
}

export function duration(milliseconds: number): string {
  // Rounded before it is cut into units: nothing takes 60 s or 1000 ms.
  if (Math.round(milliseconds) < 1000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 59_950) return `${trimmed(milliseconds / 1000)} s`
  const seconds = Math.round(milliseconds / 1000)
  const hours = Math.floor(seconds / 3600)
  const parts = [
    { value: hours, unit: "h" },
    { value: Math.floor(seconds / 60) % 60, unit: "min" },
    { value: hours > 0 ? 0 : seconds % 60, unit: "s" },
  ]
  return parts.flatMap(({ value, unit }) => (value > 0 ? [`${value} ${unit}`] : [])).join(" ")
}

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`
  if (count < 1_048_576) return `${trimmed(count / 1024)} KiB`
  return `${trimmed(count / 1_048_576)} MiB`
}

export function count(value: number): string {
  return NUMBER.format(value)
}

/** The first and last characters of a long identifier or digest; the whole one belongs in a title or a copy button. */
export function shortened(text: string, start = 10, end = 6): string {
  return text.length <= start + end + 1 ? text : `${text.slice(0, start)}…${text.slice(-end)}`
}

export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`
}

function trimmed(value: number): string {
  return value.toFixed(value < 10 ? 2 : 1).replace(/\.?0+$/, "")
}
