import { readFileSync } from "node:fs"

import { describe, expect, it } from "vitest"

import { ERROR_CODES, OPERATIONS, type ErrorCode, type OperationId } from "@/api/contract.gen"
import { problemOf, UNREADABLE } from "@/api/problem"
import { explained, nextStep, recoveryOf } from "@/api/recovery"
import { ANYWHERE, SITUATIONS } from "@/api/sentences"

const traceId = "a".repeat(32)

describe("the recovery of a failure", () => {
  it.each(Object.keys(ERROR_CODES) as ErrorCode[])("of %s names a next action", (code) => {
    expect(recoveryOf({ code }).action.length).toBeGreaterThan(10)
  })

  it("of a reason is nearer than that of its code, and has a sentence", () => {
    const recovery = recoveryOf({ code: "DEPENDENCY_ERROR", reason: "acceptance_unknown" })
    expect(recovery.owner).toBeUndefined()
    expect(recovery.sentence).toContain("may run it twice")
    expect(recoveryOf({ code: "DEPENDENCY_ERROR" }).sentence).toBeUndefined()
  })

  it("says whose turn it is when it is not the reader's", () => {
    expect(nextStep(recoveryOf({ code: "AGENT_UNAVAILABLE", reason: "connect_failed" }))).toMatch(
      /^For the provider of the Agent: Start the Agent/,
    )
  })

  it("of an unreachable Gateway is to look at the Gateway", () => {
    expect(recoveryOf({}).action).toContain("Gateway")
  })
})

describe("every error of every action", () => {
  const actions = actionsOfTheGateway()

  it("is listed for every action of the API", () => {
    const acting = Object.entries(OPERATIONS).filter(([, { method }]) => method !== "GET")
    expect(actions.map(({ operation }) => operation).sort()).toEqual(acting.map(([id]) => id).sort())
  })

  it.each(actions)("of $operation is a sentence with a next step, and no text of the contract", (action) => {
    for (const code of action.codes) {
      const { says, next } = explained({ operation: action.operation, code })
      expect(says, code).toMatch(/\.$/)
      expect(next, code).toMatch(/\.$/)
      expect(says + next, code).not.toMatch(/contract|\(caller\)|\(provider\)|violations/)
    }
  })

  it.each(actions.filter(({ operation }) => operation in SITUATIONS))(
    "of $operation says more than the code alone where the state or the owner is in the way",
    ({ operation, codes }) => {
      for (const code of codes.filter((each) => each === "FORBIDDEN"))
        expect(explained({ operation, code })).not.toEqual(ANYWHERE[code])
    },
  )
})

interface Action {
  readonly operation: OperationId
  readonly codes: ReadonlyArray<ErrorCode>
}

/** What each action may answer: every code of every status that the API names for it. */
function actionsOfTheGateway(): ReadonlyArray<Action> {
  const file = new URL("../../../contracts/openapi/bundled/gateway.v1.json", import.meta.url)
  const { paths } = JSON.parse(readFileSync(file, "utf8")) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Named>>>>
  }
  return Object.values(paths)
    .flatMap((path) => Object.entries(path))
    .filter(([method]) => ["post", "put", "patch", "delete"].includes(method))
    .map(([, { operationId, responses }]) => ({
      operation: operationId as OperationId,
      codes: (Object.keys(ERROR_CODES) as ErrorCode[]).filter(
        (code) => String(ERROR_CODES[code].status) in responses,
      ),
    }))
}

interface Named {
  readonly operationId: string
  readonly responses: Readonly<Record<string, unknown>>
}

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
