import { describe, expect, it } from "vitest"

import { discoverSearch, isFiltered } from "@/features/discover/search"

describe("the address of Discover", () => {
  it("keeps what can be searched for and drops everything else", () => {
    expect(
      discoverSearch({
        query: "brief",
        capability: "summarize",
        owner: "alice",
        latest: "false",
        order: "newest",
        other: "x",
      }),
    ).toEqual({
      query: "brief",
      capability: "summarize",
      owner: "alice",
      latest: false,
      installable: undefined,
      order: "newest",
    })
  })

  it("counts a parameter the Gateway would refuse as absent", () => {
    const search = discoverSearch({
      query: "   ",
      capability: "not an id",
      owner: "",
      latest: "yes",
      order: "best",
    })
    expect(Object.values(search).every((value) => value === undefined)).toBe(true)
    expect(isFiltered(search)).toBe(false)
  })
})
