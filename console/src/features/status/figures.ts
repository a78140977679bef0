/** What is asked of the server for a range of time, and what its figures say in the words of the page. */

import type {
  Figures,
  FiguresCounts,
  InvocationRecordErrorCode,
  PlatformErrorReason,
} from "@/api/contract.gen"
import { RANGES, type Preset } from "@/domain/range"

const MINUTE = 60_000

/** Seconds of one step: between 15 and 96 of them fill a range. */
const STEPS: Readonly<Record<Preset, number>> = { "15m": 60, "1h": 60, "24h": 900, "7d": 7200 }

interface Window {
  readonly since: string
  readonly until: string
  readonly step: number
}

/** Whole minutes up to the end of this one: the same for every moment of a minute. */
export function windowOf(preset: Preset, now: number): Window {
  const until = Math.floor(now / MINUTE) * MINUTE + MINUTE
  return {
    since: new Date(until - RANGES[preset].milliseconds).toISOString(),
    until: new Date(until).toISOString(),
    step: STEPS[preset],
  }
}

/** Failed and timed out; a cancellation is a choice of the caller. */
export function failedOf({ failed, timedOut }: FiguresCounts): number {
  return failed + timedOut
}

/** Of those that ended and were not canceled; absent when there are none. */
export function successOf(counts: FiguresCounts): number | undefined {
  const judged = counts.succeeded + failedOf(counts)
  return judged === 0 ? undefined : counts.succeeded / judged
}

export function perMinute(
  { calls }: FiguresCounts,
  { since, until }: Pick<Figures, "since" | "until">,
): number {
  return calls / ((Date.parse(until) - Date.parse(since)) / MINUTE)
}

/** Calls that ended with one code and, where there is one, one reason. */
export interface Failure {
  readonly code: InvocationRecordErrorCode
  readonly reason?: PlatformErrorReason
  readonly calls: number
}

/** The most frequent first; calls of a code without a reason are an entry of their own. */
export function failuresOf({ total: { errors } }: Pick<Figures, "total">): ReadonlyArray<Failure> {
  const failures = errors.flatMap(({ code, calls, reasons }): ReadonlyArray<Failure> => {
    const known = reasons.reduce((sum, each) => sum + each.calls, 0)
    const named = reasons.map((each) => ({ code, ...each }))
    return known < calls ? [...named, { code, calls: calls - known }] : named
  })
  return failures.filter(({ code }) => code !== "CANCELED").sort((a, b) => b.calls - a.calls)
}

/** Those with most failures first, then the busiest. */
export function byFailures<Entry extends { readonly counts: FiguresCounts }>(
  entries: ReadonlyArray<Entry>,
): ReadonlyArray<Entry> {
  return [...entries].sort(
    (a, b) => failedOf(b.counts) - failedOf(a.counts) || b.counts.calls - a.counts.calls,
  )
}
