import { describe, expect, it } from "vitest"

import { isLive, isFailure, stateOf } from "@/domain/invocationState"

const deadlineAt = "2026-03-02T10:00:00.000000Z"
const deadline = Date.parse(deadlineAt)

describe("where an Invocation stands", () => {
  it("is its status until its deadline", () => {
    expect(stateOf({ status: "running", deadlineAt }, deadline - 1)).toBe("running")
  })

  it("is interrupted past its deadline without an end", () => {
    for (const status of ["pending", "routing", "running"] as const) {
      expect(stateOf({ status, deadlineAt }, deadline + 1)).toBe("interrupted")
    }
  })

  it("is its end for good, however late it is looked at", () => {
    for (const status of ["succeeded", "failed", "canceled", "timed_out"] as const) {
      expect(stateOf({ status, deadlineAt }, deadline + 1e9)).toBe(status)
      expect(isLive({ status, deadlineAt }, deadline - 1)).toBe(false)
    }
  })

  it("may still change for as long as a Router writes an end", () => {
    expect(isLive({ status: "running", deadlineAt }, deadline + 10_000)).toBe(true)
    expect(isLive({ status: "running", deadlineAt }, deadline + 20_000)).toBe(false)
  })

  it("is no failure when the caller canceled", () => {
    expect(isFailure("canceled")).toBe(false)
    expect(isFailure("interrupted")).toBe(true)
  })
})
