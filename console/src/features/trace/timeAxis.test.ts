import { describe, expect, it } from "vitest"

import { aRecord, at, MOMENT } from "@/features/trace/records.fixture"
import { axisOf, barOf, placeOf, ticksOf } from "@/features/trace/timeAxis"

const LATER = MOMENT + 3_600_000
const root = aRecord("root", { createdAt: 0, latencyMs: 100 })
const child = aRecord("child", { createdAt: 25, latencyMs: 50, parent: "root" })

describe("the axis", () => {
  it("goes from the first creation to the last end", () => {
    const { start, end } = axisOf([child, root], LATER, false)
    expect(start).toBe(MOMENT * 1000)
    expect(end - start).toBe(100_000)
  })

  it("reaches to the last deadline when those are to be seen", () => {
    const { start, end } = axisOf([root, child], LATER, true)
    expect(end - start).toBe(60_025_000)
  })

  it("is never without length", () => {
    const { start, end } = axisOf([aRecord("a", { createdAt: 0, latencyMs: 0 })], LATER, false)
    expect(end).toBeGreaterThan(start)
  })
})

describe("a bar", () => {
  const axis = axisOf([root, child], LATER, false)

  it("is where the times of its events are", () => {
    expect(barOf(child, axis, LATER)).toMatchObject({ left: 0.25, width: 0.5, recorded: 0.5, length: 50_000 })
    expect(placeOf(at(75), axis)).toBe(0.75)
  })

  it("keeps microseconds", () => {
    const precise = {
      ...root,
      updatedAt: "2026-03-02T10:00:00.000750Z",
      createdAt: "2026-03-02T10:00:00.000250Z",
    }
    expect(barOf(precise, axisOf([precise], LATER, false), LATER).length).toBe(500)
  })

  it("has a deadline mark when that is on the axis", () => {
    expect(barOf(child, axis, LATER).deadline).toBeUndefined()
    const late = aRecord("late", { createdAt: 0, latencyMs: 100, status: "timed_out", deadlineAt: 100 })
    expect(barOf(late, axis, LATER).deadline).toBe(1)
  })

  it("of a running Invocation reaches to now", () => {
    const running = aRecord("r", { createdAt: 0, status: "running", latencyMs: 10 })
    const now = MOMENT + 40
    const bar = barOf(running, axisOf([running], now, false), now)
    expect(bar).toMatchObject({ state: "running", left: 0, width: 1, recorded: 0.25 })
  })

  it("of an interrupted one reaches to its deadline, and says how far events go", () => {
    const gone = aRecord("g", { createdAt: 0, status: "running", latencyMs: 20, deadlineAt: 80 })
    const bar = barOf(gone, axisOf([gone], LATER, false), LATER)
    expect(bar).toMatchObject({ state: "interrupted", width: 1, recorded: 0.25, deadline: 1, length: 80_000 })
  })
})

describe("ticks", () => {
  it.each([
    [100_000, ["0", "20 ms", "40 ms", "60 ms", "80 ms", "100 ms"]],
    [1_000, ["0", "200 µs", "400 µs", "600 µs", "800 µs", "1 ms"]],
    [130_000_000, ["0", "30 s", "1 min", "1 min 30 s", "2 min"]],
    [7_000_000, ["0", "2 s", "4 s", "6 s"]],
  ])("of %d microseconds are round", (length, labels) => {
    expect(ticksOf({ start: 0, end: length }, 5).map((tick) => tick.label)).toEqual(labels)
  })
})
