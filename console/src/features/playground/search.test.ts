import { describe, expect, it } from "vitest"

import { playgroundSearch } from "@/features/playground/search"

describe("the address of the Playground", () => {
  it("keeps what is tried and how, and never an input", () => {
    const address = {
      agent: "aop:summarizer",
      capability: "summarize",
      mode: "json",
      view: "json",
      input: "x",
    }
    expect(playgroundSearch(address)).toEqual({
      agent: "aop:summarizer",
      capability: "summarize",
      mode: "json",
      view: "json",
    })
  })

  it("counts what cannot be as absent", () => {
    const search = playgroundSearch({ agent: "no agent", capability: "", mode: "fast", view: 1 })
    expect(Object.values(search).every((value) => value === undefined)).toBe(true)
  })
})
