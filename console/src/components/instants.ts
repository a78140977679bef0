/** Timestamps of the contract to the microsecond, which a Date cannot hold, and how short spans are written. */

import { duration } from "@/components/format"

const CLOCK = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
})

/** Microseconds since 1970 of a timestamp with six fraction digits. */
export function micros(timestamp: string): number {
  return Date.parse(`${timestamp.slice(0, 23)}Z`) * 1000 + Number(timestamp.slice(23, 26))
}

/** "420 µs", "4.2 ms", "38 ms", and from there as every duration. */
export function span(microseconds: number): string {
  if (microseconds < 1000) return `${Math.round(microseconds)} µs`
  if (microseconds < 9950) return `${(microseconds / 1000).toFixed(1).replace(/\.0$/, "")} ms`
  return duration(microseconds / 1000)
}

/** The time of day to the millisecond: "14:03:07.120". */
export function clockTime(timestamp: string): string {
  return CLOCK.format(new Date(timestamp))
}
