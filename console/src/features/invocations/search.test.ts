import { describe, expect, it } from "vitest"

import {
  filtersOf,
  instantOfLocal,
  invocationsSearch,
  isFiltered,
  localTime,
} from "@/features/invocations/search"

describe("the address of the Invocations", () => {
  it("keeps every filter the Gateway offers", () => {
    const search = invocationsSearch({
      status: "timed_out",
      agent: "aop:summarizer",
      capability: "summarize",
      since: "2026-03-02T10:00:00Z",
      until: "2026-03-02T11:00:00.500+01:00",
      live: "false",
      page: "2",
    })
    expect(filtersOf(search)).toEqual({
      status: "timed_out",
      agentId: "aop:summarizer",
      capability: "summarize",
      since: "2026-03-02T10:00:00Z",
      until: "2026-03-02T11:00:00.500+01:00",
    })
    expect(search.live).toBe(false)
    expect(isFiltered(search)).toBe(true)
  })

  it("drops what the Gateway would refuse", () => {
    const search = invocationsSearch({
      status: "interrupted",
      agent: "no id!",
      since: "yesterday",
      until: "2026-13-40T10:00:00Z",
      live: "true",
    })
    expect(Object.values(search).every((value) => value === undefined)).toBe(true)
    expect(isFiltered(search)).toBe(false)
  })

  it("shows an instant as local time and reads it back", () => {
    const instant = "2026-03-02T10:20:30.000Z"
    expect(instantOfLocal(localTime(instant))).toBe(instant)
    expect(localTime(undefined)).toBe("")
    expect(instantOfLocal("")).toBeUndefined()
  })
})
