/** Where bars, marks and ticks of the waterfall are: fractions of one time axis, from the times the Ledger has. */

import type { InvocationRecord } from "@/api/contract.gen"
import { micros, span } from "@/components/instants"
import { isEnded, stateOf, type InvocationState } from "@/domain/invocationState"

/** Microseconds since 1970. */
export interface Axis {
  readonly start: number
  readonly end: number
}

/** Every place is a fraction of the axis, 0 at its start and 1 at its end. */
export interface Bar {
  readonly state: InvocationState
  readonly left: number
  readonly width: number
  /** Up to where events are recorded, when that is less than the bar: it runs, or was interrupted. */
  readonly recorded: number
  /** Present when the deadline is on the axis. */
  readonly deadline?: number
  /** Microseconds the Invocation took, or has taken so far. */
  readonly length: number
  /** None of it is on the axis, of which only a part is looked at. */
  readonly isOutside: boolean
}

/** A stretch of the axis, both ends as fractions. */
export interface Segment {
  readonly left: number
  readonly width: number
}

export interface Tick {
  readonly at: number
  readonly label: string
}

const SHORTEST_AXIS = 1000

/** When an Invocation ended, would have had to, or, while it runs, how far it has come. */
export function endOf(record: InvocationRecord, now: number): number {
  if (isEnded(record.status)) return micros(record.updatedAt)
  if (stateOf(record, now) === "interrupted") return micros(record.deadlineAt)
  return Math.max(now * 1000, micros(record.updatedAt))
}

/** From the first creation to the last end, or to the last deadline when those are to be seen. */
export function axisOf(records: ReadonlyArray<InvocationRecord>, now: number, withDeadlines: boolean): Axis {
  let [start, end] = [Infinity, -Infinity]
  for (const record of records) {
    start = Math.min(start, micros(record.createdAt))
    end = Math.max(end, endOf(record, now), withDeadlines ? micros(record.deadlineAt) : -Infinity)
  }
  if (records.length === 0) return { start: 0, end: SHORTEST_AXIS }
  return { start, end: Math.max(end, start + SHORTEST_AXIS) }
}

export function barOf(record: InvocationRecord, axis: Axis, now: number): Bar {
  const [created, end, deadline] = [micros(record.createdAt), endOf(record, now), micros(record.deadlineAt)]
  return {
    state: stateOf(record, now),
    left: fraction(created, axis),
    width: fraction(end, axis) - fraction(created, axis),
    recorded: fraction(micros(record.updatedAt), axis) - fraction(created, axis),
    deadline: deadline >= axis.start && deadline <= axis.end ? fraction(deadline, axis) : undefined,
    length: end - created,
    isOutside: end < axis.start || created > axis.end,
  }
}

/** Where something that happened at a timestamp is. */
export function placeOf(timestamp: string, axis: Axis): number {
  return fraction(micros(timestamp), axis)
}

/** Gaps narrower than this cannot be seen. */
const FINEST = 0.0015
const MOST_SEGMENTS = 60

/** The parts of spans that are on the axis; those that cannot be told apart are joined. */
export function segmentsOf(
  spans: ReadonlyArray<{ readonly start: number; readonly end: number }>,
  axis: Axis,
): ReadonlyArray<Segment> {
  const segments: Array<{ left: number; width: number }> = []
  for (const { start, end } of spans) {
    if (end <= axis.start || start >= axis.end) continue
    const [left, right] = [fraction(start, axis), fraction(end, axis)]
    const last = segments.at(-1)
    const isJoined = last !== undefined && left - (last.left + last.width) < FINEST
    if (last !== undefined && (isJoined || segments.length === MOST_SEGMENTS)) last.width = right - last.left
    else segments.push({ left, width: right - left })
  }
  return segments
}

/** Round times since the origin, at most `max` of them and always one, where they are on the axis. */
export function ticksOf(axis: Axis, max: number, origin = axis.start): ReadonlyArray<Tick> {
  const length = axis.end - axis.start
  const step = roundStep(length / Math.max(1, max))
  const first = Math.ceil((axis.start - origin) / step)
  const last = Math.floor((axis.end - origin) / step)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
    const since = (first + index) * step
    return { at: (origin + since - axis.start) / length, label: since === 0 ? "0" : span(since) }
  })
}

const SECOND = 1_000_000
const LONG_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600].map((seconds) => seconds * SECOND)

/** The smallest of 1, 2, 5, 10, 20 … that is enough; from a second on, steps that read well as seconds and minutes. */
function roundStep(least: number): number {
  if (least > SECOND) {
    const enough = LONG_STEPS.find((step) => step >= least)
    return enough ?? Math.ceil(least / (3600 * SECOND)) * 3600 * SECOND
  }
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)))
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least) ?? 10 * power
}

function fraction(at: number, axis: Axis): number {
  return Math.min(1, Math.max(0, (at - axis.start) / (axis.end - axis.start)))
}
