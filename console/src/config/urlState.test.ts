import { describe, expect, it } from "vitest"

import { flag, matching, oneOf, ownPath, parseSearch, stringifySearch, text } from "@/config/urlState"

describe("the state in the address", () => {
  it("reads back what it wrote", () => {
    const state = { query: "a & b=c", latest: false, page: 2 }
    expect(parseSearch(stringifySearch(state))).toEqual({ query: "a & b=c", latest: "false", page: "2" })
  })

  it("leaves out what says nothing", () => {
    expect(stringifySearch({ a: undefined, b: "", c: null })).toBe("")
  })

  it("keeps the first of repeated parameters", () => {
    expect(parseSearch("?a=1&a=2")).toEqual({ a: "1" })
  })

  it("counts what cannot be read as absent", () => {
    expect(text("  ")).toBeUndefined()
    expect(text("x".repeat(300))).toBeUndefined()
    expect(flag("yes")).toBeUndefined()
    expect(oneOf("c", ["a", "b"])).toBeUndefined()
    expect(matching("no id!", /^[a-z]+$/)).toBeUndefined()
  })

  it("goes on after sign-in to a place of its own only", () => {
    expect(ownPath("/agents/a?version=1.0.0")).toBe("/agents/a?version=1.0.0")
    for (const other of [
      "https://x.example/",
      "//x.example",
      "/\\x.example",
      "discover",
      "/sign-in?next=/",
      " /a",
      1,
    ]) {
      expect(ownPath(other)).toBeUndefined()
    }
  })
})
