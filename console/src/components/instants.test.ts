import { describe, expect, it } from "vitest"

import { micros, span } from "@/components/instants"

describe("instants", () => {
  it("keep their microseconds", () => {
    const start = micros("2026-03-02T10:00:00.000001Z")
    expect(micros("2026-03-02T10:00:00.000420Z") - start).toBe(419)
    expect(micros("2026-03-02T10:00:01.500001Z") - start).toBe(1_500_000)
  })

  it.each([
    [0, "0 µs"],
    [420, "420 µs"],
    [4_200, "4.2 ms"],
    [5_000, "5 ms"],
    [38_400, "38 ms"],
    [1_250_000, "1.25 s"],
    [90_000_000, "1 min 30 s"],
  ])("a span of %d microseconds is written %s", (given, written) => {
    expect(span(given)).toBe(written)
  })
})
