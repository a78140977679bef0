/** The part of a Trace's time axis that is in view: zoomed, moved, and never outside of the Trace. */

import type { Axis } from "@/features/trace/timeAxis"

/** Fractions of the whole axis. */
export interface Viewport {
  readonly from: number
  readonly to: number
}

export const WHOLE: Viewport = { from: 0, to: 1 }
const NARROWEST = 1 / 10_000

export function isWhole({ from, to }: Viewport): boolean {
  return from <= 0 && to >= 1
}

/** In either order; what is too narrow to be meant as a part is widened around its middle. */
export function between(one: number, other: number): Viewport {
  const [from, to] = [Math.min(one, other), Math.max(one, other)]
  const width = Math.min(1, Math.max(NARROWEST, to - from))
  const start = Math.min(1 - width, Math.max(0, (from + to) / 2 - width / 2))
  return { from: start, to: start + width }
}

/** By a factor below 1 nearer, above 1 farther, around a place that stays where it is. */
export function zoomed(view: Viewport, factor: number, around = (view.from + view.to) / 2): Viewport {
  const width = Math.min(1, Math.max(NARROWEST, (view.to - view.from) * factor))
  const share = (around - view.from) / (view.to - view.from)
  return at(around - share * width, width)
}

/** By a share of what is in view, to the left when negative. */
export function moved(view: Viewport, share: number): Viewport {
  const width = view.to - view.from
  return at(view.from + share * width, width)
}

/** The part of an axis that is in view. */
export function inView(axis: Axis, view: Viewport): Axis {
  const length = axis.end - axis.start
  return { start: axis.start + view.from * length, end: axis.start + view.to * length }
}

/** As it stands in an address: microseconds from the start, so that a link shows the same part while a Trace grows. */
export function viewportText(view: Viewport, axis: Axis): string | undefined {
  if (isWhole(view)) return undefined
  const length = axis.end - axis.start
  return `${Math.round(view.from * length)}-${Math.round(view.to * length)}`
}

export const VIEWPORT_TEXT = /^\d{1,12}-\d{1,12}$/

export function viewportOf(text: string | undefined, axis: Axis): Viewport {
  if (text === undefined) return WHOLE
  const [from = 0, to = 0] = text.split("-").map(Number)
  const length = axis.end - axis.start
  return from >= length || from >= to ? WHOLE : between(from / length, Math.min(1, to / length))
}

function at(from: number, width: number): Viewport {
  const start = Math.min(1 - width, Math.max(0, from))
  return { from: start, to: start + width }
}
