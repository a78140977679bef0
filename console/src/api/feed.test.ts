import { describe, expect, it } from "vitest"

import type { InvocationRecord, InvocationRecordStatus } from "@/api/contract.gen"
import {
  extended as extendedBy,
  newestFirst,
  reaches as reachesBy,
  readFeed,
  refreshed as refreshedBy,
  renewed,
  slowestFirst,
  type Feed,
  type Source,
} from "@/api/feed"

const record = (number: number, status: InvocationRecordStatus = "succeeded") =>
  ({
    invocationId: `inv_${number}`,
    createdAt: `2026-03-02T10:00:${String(number).padStart(2, "0")}.000000Z`,
    updatedAt: `2026-03-02T10:01:00.00000${status.length % 10}Z`,
    status,
  }) as InvocationRecord

const feed = (numbers: number[], nextCursor?: string): Feed<InvocationRecord> => ({
  rows: numbers.map((number) => record(number)),
  nextCursor,
})
const numbers = (found: Feed<InvocationRecord>) => found.rows.map((row) => Number(row.invocationId.slice(4)))

type Rows = Feed<InvocationRecord>
const refreshed = (known: Rows | undefined, head: Rows) => refreshedBy(known, head, newestFirst)
const extended = (known: Rows, page: Rows) => extendedBy(known, page, newestFirst)
const reaches = (head: Rows, known: Rows) => reachesBy(head, known, newestFirst)

describe("the list of Invocations", () => {
  it("is newest first, and by id where the time is the same", () => {
    const twin = { ...record(5), invocationId: "inv_z" }
    expect([record(4), record(5), twin].sort(newestFirst)).toEqual([twin, record(5), record(4)])
  })

  it("gets what is new at its top and keeps what was loaded below", () => {
    const known = feed([9, 8, 7, 6, 5, 4], "behind 4")
    const found = refreshed(known, feed([11, 10, 9, 8], "behind 8"))
    expect(numbers(found)).toEqual([11, 10, 9, 8, 7, 6, 5, 4])
    expect(found.nextCursor).toBe("behind 4")
  })

  it("is the same object when nothing changed, and its rows are when others did", () => {
    const known = feed([9, 8, 7], "behind 7")
    expect(refreshed(known, feed([9, 8], "behind 8"))).toBe(known)
    const found = refreshed(known, { rows: [record(9, "failed"), record(8)], nextCursor: "behind 8" })
    expect(found.rows[0]?.status).toBe("failed")
    expect(found.rows[1]).toBe(known.rows[1])
  })

  it("loses what no longer matches the filter", () => {
    expect(numbers(refreshed(feed([9, 8, 7, 6], "c"), feed([9, 7], "behind 7")))).toEqual([9, 7, 6])
    expect(numbers(refreshed(feed([9, 8]), feed([])))).toEqual([])
  })

  it("starts over rather than showing a gap", () => {
    const known = feed([5, 4], "behind 4")
    expect(reaches(feed([9, 8], "behind 8"), known)).toBe(false)
    expect(refreshed(known, feed([9, 8], "behind 8"))).toEqual(feed([9, 8], "behind 8"))
  })

  it("continues behind its end, and behind the head when that is longer", () => {
    expect(extended(feed([9, 8], "behind 8"), feed([8, 7, 6]))).toEqual(feed([9, 8, 7, 6]))
    expect(refreshed(feed([9, 8], "c"), feed([10, 9, 8, 7], "behind 7")).nextCursor).toBe("behind 7")
  })

  it("takes single readings where they belong", () => {
    const known = { rows: [record(9), record(8, "running")], nextCursor: "c" }
    expect(renewed(known, [{ id: "inv_8", now: record(8, "failed") }], undefined).rows[1]?.status).toBe(
      "failed",
    )
    expect(numbers(renewed(known, [{ id: "inv_8", now: record(8, "failed") }], "running"))).toEqual([])
    expect(renewed(known, [], "running")).toBe(known)
  })

  it("loses a row that left it", () => {
    expect(numbers(renewed(feed([9, 8]), [{ id: "inv_9", now: undefined }], undefined))).toEqual([8])
  })

  it("is slowest first where that is asked for, and by id where the latency is the same", () => {
    const slow = (number: number, latencyMs: number) => ({ ...record(number), latencyMs })
    const sorted = [slow(1, 5), slow(3, 9), slow(2, 9)].sort(slowestFirst)
    expect(sorted.map((row) => row.invocationId)).toEqual(["inv_2", "inv_3", "inv_1"])
  })

  it("keeps its rows when a search for something rare ended before it met one", () => {
    const known = feed([5, 4], "behind 4")
    expect(refreshed(known, feed([], "searched so far"))).toBe(known)
    expect(numbers(refreshed(known, feed([])))).toEqual([])
  })

  it("goes on where somebody was, although its top is refreshed and ends before", () => {
    const nothing = feed([], "searched far")
    expect(refreshed(nothing, feed([], "searched so far"))).toBe(nothing)
    const known = feed([5, 4], "searched far behind 4")
    expect(refreshed(known, feed([5, 4], "behind 4"))).toBe(known)
    const grown = refreshed(known, feed([6, 5, 4], "behind 4"))
    expect(grown).toEqual(feed([6, 5, 4], "searched far behind 4"))
    expect(refreshed(feed([5, 4]), feed([6, 5, 4], "behind 4")).nextCursor).toBeUndefined()
  })
})

function sourceOf(pages: Readonly<Record<string, Rows>>): Source<InvocationRecord> {
  return {
    key: [],
    order: newestFirst,
    readPage: (cursor = "top") => Promise.resolve(pages[cursor] ?? feed([])),
    readOne: () => Promise.resolve(undefined),
  }
}

describe("the first read of a list", () => {
  const { signal } = new AbortController()

  it("goes on behind pages without rows", async () => {
    const source = sourceOf({ top: feed([], "a"), a: feed([], "b"), b: feed([3, 2], "c") })
    expect(await readFeed(source, () => undefined, signal)).toEqual(feed([3, 2], "c"))
  })

  it("ends a search that finds nothing, and can be continued", async () => {
    const source = sourceOf({ top: feed([], "top") })
    expect(await readFeed(source, () => undefined, signal)).toEqual(feed([], "top"))
  })
})
