import { describe, expect, it } from "vitest"

import { ERROR_CODES, type ErrorCode } from "@/api/contract.gen"
import { problemOf, UNREADABLE } from "@/api/problem"
import { recoveryOf } from "@/api/recovery"

const traceId = "a".repeat(32)

describe("the recovery of a failure", () => {
  it.each(Object.keys(ERROR_CODES) as ErrorCode[])(
    "of %s names a next action and whose turn it is",
    (code) => {
      const recovery = recoveryOf({ code })
      expect(recovery?.action.length).toBeGreaterThan(10)
      expect(recovery?.owner).toBeTruthy()
    },
  )

  it("of a reason is nearer than that of its code, and has a sentence", () => {
    const recovery = recoveryOf({ code: "DEPENDENCY_ERROR", reason: "acceptance_unknown" })
    expect(recovery?.owner).toBe("you")
    expect(recovery?.sentence).toContain("may run it twice")
    expect(recoveryOf({ code: "DEPENDENCY_ERROR" })?.sentence).toBeUndefined()
  })

  it("of an unreachable Gateway is to look at the Gateway", () => {
    expect(recoveryOf({})?.action).toContain("Gateway")
  })
})

describe("an error answer", () => {
  it("is shown with the fixed message of its code, whatever text it carries", () => {
    const problem = problemOf(409, { code: "CONFLICT", message: "<b>other</b>", traceId }, undefined)
    expect(problem.message).toBe(ERROR_CODES.CONFLICT.message)
    expect(problem.traceId).toBe(traceId)
  })

  it("that is no Platform Error is unreadable, with the trace of its header", () => {
    for (const body of [
      undefined,
      null,
      "text",
      [],
      {},
      { code: "NO_SUCH_CODE", traceId },
      { code: "CONFLICT" },
      { code: "CONFLICT", reason: "schema_work", traceId },
      { code: "CONFLICT", reason: "<b>other</b>", traceId },
      { code: "OVERLOADED", reason: "constructor", traceId },
    ]) {
      const problem = problemOf(502, body, traceId)
      expect(problem.message).toBe(UNREADABLE)
      expect(problem.code).toBeUndefined()
      expect(problem.traceId).toBe(traceId)
    }
  })

  it("keeps a reason that belongs to its code", () => {
    const body = { code: "CONFLICT", message: "", reason: "already_installed", traceId }
    expect(problemOf(409, body, undefined).reason).toBe("already_installed")
  })

  it("keeps the violations that have a pointer and a rule", () => {
    const violations = [{ pointer: "/name", rule: "minLength" }, { pointer: 1 }, "x"]
    const problem = problemOf(400, { code: "VALIDATION_ERROR", message: "", traceId, violations }, undefined)
    expect(problem.violations).toEqual([{ pointer: "/name", rule: "minLength" }])
  })
})
