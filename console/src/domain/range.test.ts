import { describe, expect, it } from "vitest"

import { instantOfLocal, localTime, startOf } from "@/domain/range"

describe("a range", () => {
  it("that ends now begins as long ago as its name says", () => {
    const now = Date.parse("2026-03-02T10:00:00Z")
    expect(startOf("15m", now)).toBe("2026-03-02T09:45:00.000Z")
    expect(startOf("7d", now)).toBe("2026-02-23T10:00:00.000Z")
  })

  it("is local in the control and an instant in the address", () => {
    const instant = "2026-03-02T10:00:30.000Z"
    expect(instantOfLocal(localTime(instant))).toBe(instant)
    expect(localTime(undefined)).toBe("")
    expect(instantOfLocal("")).toBeUndefined()
    expect(instantOfLocal("not a time")).toBeUndefined()
  })
})
