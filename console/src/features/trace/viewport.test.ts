import { describe, expect, it } from "vitest"

import {
  between,
  inView,
  isWhole,
  moved,
  viewportOf,
  viewportText,
  WHOLE,
  zoomed,
} from "@/features/trace/viewport"

const AXIS = { start: 1_000_000, end: 2_000_000 }

describe("the part in view", () => {
  it("is zoomed around its middle or around a place that stays where it is", () => {
    expect(zoomed(WHOLE, 0.5)).toEqual({ from: 0.25, to: 0.75 })
    expect(zoomed(WHOLE, 0.5, 0)).toEqual({ from: 0, to: 0.5 })
    expect(zoomed({ from: 0.25, to: 0.75 }, 2)).toEqual(WHOLE)
  })

  it("never leaves the Trace", () => {
    expect(zoomed({ from: 0.75, to: 1 }, 2)).toEqual({ from: 0.5, to: 1 })
    expect(moved({ from: 0.75, to: 1 }, 1)).toEqual({ from: 0.75, to: 1 })
    expect(moved({ from: 0.5, to: 0.75 }, -4)).toEqual({ from: 0, to: 0.25 })
    expect(isWhole(zoomed(WHOLE, 100))).toBe(true)
  })

  it("has a least width, however far one zooms and however short one drags", () => {
    const { from, to } = between(0.5, 0.5)
    expect(to - from).toBeCloseTo(1 / 10_000)
    expect(between(0.75, 0.25)).toEqual({ from: 0.25, to: 0.75 })
    const least = zoomed(WHOLE, 0)
    expect(least.to).toBeGreaterThan(least.from)
  })

  it("is the same part of the axis", () => {
    expect(inView(AXIS, { from: 0.25, to: 0.5 })).toEqual({ start: 1_250_000, end: 1_500_000 })
  })

  it("is in the address as microseconds, and comes back", () => {
    const view = { from: 0.25, to: 0.5 }
    expect(viewportText(view, AXIS)).toBe("250000-500000")
    expect(viewportOf("250000-500000", AXIS)).toEqual(view)
    expect(viewportText(WHOLE, AXIS)).toBeUndefined()
  })

  it.each([undefined, "5-5", "9-3", "3000000-4000000"])("is the whole for %j", (text) => {
    expect(viewportOf(text, AXIS)).toEqual(WHOLE)
  })
})
