import { describe, expect, it } from "vitest"

import type { FiguresCounts } from "@/api/contract.gen"
import { byFailures, failuresOf, perMinute, successOf, windowOf } from "@/features/status/figures"

const counts = (members: Partial<FiguresCounts>): FiguresCounts => ({
  ...{ calls: 0, running: 0, succeeded: 0, failed: 0, canceled: 0, timedOut: 0 },
  ...members,
})

describe("the window that is asked for", () => {
  it("is whole minutes up to the end of this one", () => {
    expect(windowOf("1h", Date.parse("2026-03-02T10:00:42.123Z"))).toEqual({
      since: "2026-03-02T09:01:00.000Z",
      until: "2026-03-02T10:01:00.000Z",
      step: 60,
    })
  })

  it.each(["15m", "1h", "24h", "7d"] as const)("of %s has as many steps as the Gateway allows", (preset) => {
    const { since, until, step } = windowOf(preset, Date.parse("2026-03-02T10:00:00Z"))
    const steps = (Date.parse(until) - Date.parse(since)) / 1000 / step
    expect(Number.isInteger(steps)).toBe(true)
    expect(steps).toBeLessThanOrEqual(400)
  })
})

describe("the share of success", () => {
  it("leaves out what runs and what the caller canceled, and counts timeouts as failures", () => {
    expect(successOf(counts({ succeeded: 89, failed: 10, timedOut: 1, canceled: 5, running: 3 }))).toBe(0.89)
    expect(successOf(counts({ running: 3, canceled: 1 }))).toBeUndefined()
  })

  it("and the rate are those of the whole window", () => {
    const window = { since: "2026-03-02T09:00:00Z", until: "2026-03-02T10:00:00Z" }
    expect(perMinute(counts({ calls: 90 }), window)).toBe(1.5)
  })
})

describe("failures", () => {
  it("are by code and reason, the most frequent first, without cancellations", () => {
    const errors = [
      { code: "CANCELED" as const, calls: 50, reasons: [] },
      {
        code: "AGENT_UNAVAILABLE" as const,
        calls: 10,
        reasons: [{ reason: "connect_failed" as const, calls: 7 }],
      },
      { code: "TIMEOUT" as const, calls: 4, reasons: [] },
    ]
    const total = { counts: counts({}), agents: [], skills: [], errors }
    expect(failuresOf({ total })).toEqual([
      { code: "AGENT_UNAVAILABLE", reason: "connect_failed", calls: 7 },
      { code: "TIMEOUT", calls: 4 },
      { code: "AGENT_UNAVAILABLE", calls: 3 },
    ])
  })

  it("come first in a list of Skills", () => {
    const entries = [
      { name: "busy", counts: counts({ calls: 90 }) },
      { name: "late", counts: counts({ calls: 2, timedOut: 1 }) },
      { name: "quiet", counts: counts({ calls: 1 }) },
    ]
    expect(byFailures(entries).map(({ name }) => name)).toEqual(["late", "busy", "quiet"])
  })
})
