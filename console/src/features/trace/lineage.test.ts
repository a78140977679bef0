import { describe, expect, it } from "vitest"

import { ancestorsOf, lineageTree, rowsInView } from "@/features/trace/lineage"
import { aRecord } from "@/features/trace/records.fixture"

const records = [
  aRecord("root", { createdAt: 0 }),
  aRecord("late", { createdAt: 20, parent: "root" }),
  aRecord("early", { createdAt: 10, parent: "root" }),
  aRecord("below", { createdAt: 15, parent: "early" }),
]

const names = (rows: ReturnType<typeof rowsInView>) => rows.map((row) => row.record.invocationId)

describe("the lineage", () => {
  it("is a tree in the order of creation, depth first", () => {
    const rows = rowsInView(lineageTree(records), new Set())
    expect(names(rows)).toEqual(["root", "early", "below", "late"])
    expect(rows.map((row) => row.depth)).toEqual([0, 1, 2, 1])
    expect(rows.map((row) => [row.position, row.siblings])).toEqual([
      [1, 1],
      [1, 2],
      [1, 1],
      [2, 2],
    ])
    expect(rows.map((row) => row.descendants)).toEqual([3, 1, 0, 0])
  })

  it("hides what is below a closed Invocation", () => {
    expect(names(rowsInView(lineageTree(records), new Set(["early"])))).toEqual(["root", "early", "late"])
    expect(names(rowsInView(lineageTree(records), new Set(["root"])))).toEqual(["root"])
  })

  it("has several roots, and loses no record whose parent is missing", () => {
    const rows = rowsInView(
      lineageTree([
        aRecord("a", { createdAt: 5 }),
        aRecord("b", { createdAt: 1 }),
        aRecord("c", { createdAt: 3, parent: "x" }),
      ]),
      new Set(),
    )
    expect(names(rows)).toEqual(["b", "c", "a"])
    expect(rows.every((row) => row.depth === 0)).toBe(true)
  })

  it("orders those created at the same moment by id", () => {
    const same = [aRecord("b", { createdAt: 0 }), aRecord("a", { createdAt: 0 })]
    expect(names(lineageTree(same))).toEqual(["a", "b"])
  })

  it("knows who is above", () => {
    expect(ancestorsOf("below", records)).toEqual(["early", "root"])
    expect(ancestorsOf("root", records)).toEqual([])
  })

  it("of a thousand Invocations looks at each of them a few times only", () => {
    let looks = 0
    const many = Array.from({ length: 1000 }, (_, n) => {
      const record = aRecord(`i${n}`, {
        createdAt: n,
        parent: n === 0 ? undefined : `i${Math.floor((n - 1) / 8)}`,
      })
      return new Proxy(record, {
        get: (target, name, receiver) => {
          looks += 1
          return Reflect.get(target, name, receiver) as unknown
        },
      })
    })
    expect(rowsInView(lineageTree(many), new Set())).toHaveLength(1000)
    expect(looks).toBeLessThan(100_000)
  })
})
