import { describe, expect, it } from "vitest"

import { bytes, duration, plural, relative, shortDateTime, shortened } from "@/components/format"

describe("what people read", () => {
  it("durations and sizes in the unit that fits", () => {
    expect([duration(0), duration(999), duration(1500), duration(60_000), duration(90_500)]).toEqual([
      ...["0 ms", "999 ms", "1.5 s", "1 min", "1 min 31 s"],
    ])
    expect([duration(999.7), duration(59_960), duration(359_900), duration(11_100_000)]).toEqual([
      ...["1 s", "1 min", "6 min", "3 h 5 min"],
    ])
    expect([bytes(512), bytes(65_536), bytes(1_572_864)]).toEqual(["512 B", "64 KiB", "1.5 MiB"])
  })

  it("times relative to now", () => {
    const now = Date.parse("2026-03-02T10:00:00Z")
    expect(relative("2026-03-02T09:55:00.000000Z", now)).toBe("5 min. ago")
    expect(relative("2026-03-02T09:59:40.000000Z", now)).toBe("now")
    expect(relative("2026-03-04T10:00:00.000000Z", now)).toBe("in 2 days")
  })

  it("times in lists with the date only where it is not today's", () => {
    const now = new Date(2026, 2, 2, 10, 0, 0).getTime()
    const at = (...parts: [number, number, number, number, number, number]) =>
      new Date(...parts).toISOString()
    expect(shortDateTime(at(2026, 2, 2, 9, 5, 7), now)).toBe("09:05:07")
    expect(shortDateTime(at(2026, 1, 27, 9, 5, 7), now)).toBe("27 Feb 09:05:07")
    expect(shortDateTime(at(2025, 1, 27, 9, 5, 7), now)).toBe("27 Feb 2025")
  })

  it("long identifiers by their ends", () => {
    expect(shortened("rel_0123456789abcdef")).toBe("rel_012345…abcdef")
    expect(shortened("short")).toBe("short")
  })

  it("one or many", () => {
    expect([plural(1, "Agent"), plural(0, "Agent"), plural(1200, "Agent")]).toEqual([
      "1 Agent",
      "0 Agents",
      "1,200 Agents",
    ])
  })
})
