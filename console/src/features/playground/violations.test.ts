import { describe, expect, it } from "vitest"

import { placed, unresolved } from "@/features/playground/violations"

const FIELDS = new Set(["", "/text", "/list", "/list/0"])

describe("a violation", () => {
  it("stands at the field its pointer names", () => {
    const violation = { pointer: "/input/text", rule: "required" }
    expect(placed([violation], FIELDS)).toEqual(new Map([["/text", [violation]]]))
  })

  it("stands at the innermost field around it when it has none of its own", () => {
    const inside = { pointer: "/input/list/0/name", rule: "minLength" }
    const behind = { pointer: "/input/list/7", rule: "type" }
    const outside = { pointer: "/capability", rule: "pattern" }
    const found = placed([inside, behind, outside], FIELDS)
    expect(found.get("/list/0")).toEqual([inside])
    expect(found.get("/list")).toEqual([behind])
    expect(found.get("")).toEqual([outside])
  })

  it("stands until what it is about has changed", () => {
    const sent = { text: "", list: ["a"] }
    const missing = { pointer: "/input/name", rule: "required" }
    const short = { pointer: "/input/text", rule: "minLength" }
    expect(unresolved([missing, short], sent, { ...sent, list: [] })).toEqual([missing, short])
    expect(unresolved([missing, short], sent, { ...sent, text: "now" })).toEqual([missing])
    expect(unresolved([missing, short], sent, { ...sent, name: "now" })).toEqual([short])
  })
})
