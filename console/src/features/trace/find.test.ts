import { describe, expect, it } from "vitest"

import { failures, idsMatching, nextOf } from "@/features/trace/find"
import { aRecord, MOMENT } from "@/features/trace/records.fixture"

const NOW = MOMENT + 3_600_000

const TRACE = [
  aRecord("inv_1", { createdAt: 0, agent: "acme:brief", capability: "brief-meeting" }),
  aRecord("inv_2", { createdAt: 1, agent: "acme:sum", status: "failed" }),
  {
    ...aRecord("inv_3", { createdAt: 2, agent: "acme:sum", status: "timed_out" }),
    errorCode: "TIMEOUT" as const,
  },
  aRecord("inv_4", { createdAt: 3, agent: "acme:items", status: "canceled" }),
  aRecord("inv_5", { createdAt: 4, status: "running", deadlineAt: 10 }),
]

describe("the search in a Trace", () => {
  it.each([
    ["ACME:sum", ["inv_2", "inv_3"]],
    ["sum timed", ["inv_3"]],
    ["timeout", ["inv_3"]],
    ["inv_4", ["inv_4"]],
    ["meeting", ["inv_1"]],
    ["interrupted", ["inv_5"]],
    ["nothing like it", []],
    ["  ", []],
    [undefined, []],
  ])("finds by %j", (query, ids) => {
    expect(idsMatching(TRACE, query, NOW)).toEqual(ids)
  })
})

describe("failures", () => {
  it("are those that failed, timed out or were interrupted, not those that were canceled", () => {
    expect(failures(TRACE, NOW)).toEqual(["inv_2", "inv_3", "inv_5"])
  })
})

describe("the next one", () => {
  const order = ["a", "b", "c", "d", "e"]

  it.each([
    ["b", 1, "d"],
    ["d", 1, "b"],
    ["c", -1, "b"],
    ["b", -1, "d"],
    [undefined, 1, "b"],
    ["gone", 1, "b"],
  ] as const)("from %j with %d is %j", (current, step, expected) => {
    expect(nextOf(["d", "b"], order, current, step)).toBe(expected)
  })

  it("is none where nothing is wanted", () => {
    expect(nextOf([], order, "a", 1)).toBeUndefined()
  })
})
