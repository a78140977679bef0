import { describe, expect, it } from "vitest"

import type { Json } from "@/api/contract.gen"
import { shapeOf, shapeOfChunks } from "@/features/playground/shape"

describe("the shape of a result", () => {
  it("is text for a string", () => {
    expect(shapeOf("hello")).toEqual({ kind: "text", text: "hello" })
  })

  it("is a table for rows, also when they are the one member of an object", () => {
    const rows: Json[] = [
      { a: 1, b: null },
      { a: 2, c: ["x", "y"] },
    ]
    const columns = ["a", "b", "c"]
    expect(shapeOf(rows)).toEqual({ kind: "table", table: { name: undefined, columns, rows } })
    expect(shapeOf({ items: rows })).toEqual({ kind: "table", table: { name: "items", columns, rows } })
  })

  it("is a tree for everything else", () => {
    const wide = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`c${index}`, index]))
    const others: Json[] = [
      null,
      1,
      [],
      {},
      [1, 2],
      { a: 1 },
      { items: [], more: 1 },
      [{ a: { b: 1 } }],
      [{}],
      [wide],
    ]
    for (const value of others) {
      expect(shapeOf(value).kind).toBe("tree")
    }
  })
})

describe("the shape of chunks", () => {
  it("is running text for strings", () => {
    expect(shapeOfChunks(["one ", "two"])).toEqual({ kind: "text", text: "one two" })
  })

  it("is one growing table for rows, and for lists of rows under one name", () => {
    expect(shapeOfChunks([{ a: 1 }, { a: 2 }])).toMatchObject({ kind: "table", table: { columns: ["a"] } })
    expect(shapeOfChunks([{ items: [{ a: 1 }] }, { items: [] }, { items: [{ b: 2 }] }])).toMatchObject({
      kind: "table",
      table: { name: "items", columns: ["a", "b"], rows: [{ a: 1 }, { b: 2 }] },
    })
  })

  it("is a tree when the chunks differ in kind, or there is none", () => {
    expect(shapeOfChunks([]).kind).toBe("tree")
    expect(shapeOfChunks(["a", 1]).kind).toBe("tree")
    expect(shapeOfChunks([{ items: [{ a: 1 }] }, { others: [{ a: 1 }] }]).kind).toBe("tree")
  })
})
