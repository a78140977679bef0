import { describe, expect, it } from "vitest"

import { childPointer, isSame, valueAt, withMember } from "@/api/json"

describe("a place inside a value", () => {
  const value = { list: [{ "a/b": 1, "t~": 2 }], empty: null }

  it("is found by its pointer, escapes included", () => {
    expect(valueAt(value, "")).toBe(value)
    expect(valueAt(value, "/list/0/a~1b")).toBe(1)
    expect(valueAt(value, childPointer(childPointer("/list", 0), "t~"))).toBe(2)
    expect(valueAt(value, "/empty")).toBeNull()
  })

  it("is nothing where the pointer leads nowhere", () => {
    for (const pointer of ["/none", "/list/1", "/list/x", "/empty/x", "/toString"]) {
      expect(valueAt(value, pointer)).toBeUndefined()
    }
  })
})

describe("a member", () => {
  it("keeps its place when it is set again, comes last when it is new, and leaves without a trace", () => {
    expect(Object.entries(withMember({ a: 1, b: 2 }, "a", 3))).toEqual([
      ["a", 3],
      ["b", 2],
    ])
    expect(Object.keys(withMember({ b: 2 }, "a", 1))).toEqual(["b", "a"])
    expect(withMember({ a: 1, b: 2 }, "a", undefined)).toEqual({ b: 2 })
  })
})

describe("two values", () => {
  it("are the same whatever the order of their members", () => {
    expect(isSame({ a: [1, { b: null }], c: "x" }, { c: "x", a: [1, { b: null }] })).toBe(true)
  })

  it("differ by one member, item or type", () => {
    expect(isSame({ a: 1 }, { a: 1, b: 1 })).toBe(false)
    expect(isSame({ a: 1 }, { b: 1 })).toBe(false)
    expect(isSame([1, 2], [2, 1])).toBe(false)
    expect(isSame("1", 1)).toBe(false)
    expect(isSame(null, undefined)).toBe(false)
  })
})
