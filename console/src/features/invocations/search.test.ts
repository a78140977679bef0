import { describe, expect, it } from "vitest"

import {
  furtherOf,
  invocationFiltersOf,
  isFiltered,
  listSearch,
  NO_FILTERS,
  reasonsOf,
  traceFiltersOf,
} from "@/features/invocations/search"

const NOW = Date.parse("2026-03-02T12:00:00Z")
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"

describe("the address of a list", () => {
  it("keeps every filter the Gateway offers", () => {
    const search = listSearch({
      status: "failed",
      agent: "aop:summarizer",
      capability: "summarize",
      caller: "alice",
      code: "AGENT_UNAVAILABLE",
      reason: "connect_failed",
      trace: TRACE,
      root: "true",
      since: "2026-03-02T10:00:00Z",
      until: "2026-03-02T11:00:00.500+01:00",
      order: "slowest",
      live: "false",
      page: "2",
    })
    const filters = {
      status: "failed",
      agentId: "aop:summarizer",
      capability: "summarize",
      callerId: "alice",
      errorCode: "AGENT_UNAVAILABLE",
      reason: "connect_failed",
      traceId: TRACE,
      since: "2026-03-02T10:00:00Z",
      until: "2026-03-02T11:00:00.500+01:00",
      order: "slowest",
    }
    expect(traceFiltersOf(search, NOW)).toEqual(filters)
    expect(invocationFiltersOf(search, NOW)).toEqual({ ...filters, root: true })
    expect(search.live).toBe(false)
    expect(isFiltered(search)).toBe(true)
    expect(furtherOf(search)).toBe(7)
  })

  it("counts a named range back from now, and then has no other times", () => {
    const search = listSearch({ last: "1h", since: "2026-03-02T10:00:00Z" })
    expect(search.since).toBeUndefined()
    expect(traceFiltersOf(search, NOW).since).toBe("2026-03-02T11:00:00.000Z")
  })

  it.each([
    ["status", "sleeping"],
    ["agent", "not an id"],
    ["code", "VALIDATION_ERROR"],
    ["reason", "no_such_reason"],
    ["trace", "abc"],
    ["since", "yesterday"],
    ["last", "2h"],
    ["order", "random"],
    ["root", "false"],
  ])("treats %s=%s as absent", (name, value) => {
    expect(isFiltered(listSearch({ [name]: value }))).toBe(false)
    expect(listSearch({ [name]: value }).order).toBeUndefined()
  })

  it("drops a reason that cannot stand beside the code", () => {
    expect(listSearch({ code: "TIMEOUT", reason: "connect_failed" }).reason).toBeUndefined()
    expect(reasonsOf("AGENT_UNAVAILABLE")).toContain("connect_failed")
    expect(reasonsOf(undefined)).toContain("task_failed")
  })

  it("is without filters once they are cleared", () => {
    expect(isFiltered({ ...listSearch({ last: "1h", code: "TIMEOUT" }), ...NO_FILTERS })).toBe(false)
  })
})
