import { describe, expect, it } from "vitest"

import {
  isSameView,
  MOST_VIEWS,
  textOf,
  USUAL_VIEWS,
  viewsOf,
  withoutView,
  withView,
} from "@/features/invocations/views"

const FAILED = { name: "Failed", search: { status: "failed", last: "1h" } } as const

describe("kept views", () => {
  it("come back as they were kept", () => {
    const [back] = viewsOf(textOf([FAILED]))
    expect(back?.name).toBe("Failed")
    expect(isSameView(back?.search ?? {}, FAILED.search)).toBe(true)
  })

  it.each([undefined, "", "{", "{}", "[1]", '[["a"]]', '[["a", 5]]', JSON.stringify([["x".repeat(61), ""]])])(
    "are none for %j",
    (kept) => {
      expect(viewsOf(kept)).toEqual([])
    },
  )

  it("have their filters checked like those of an address", () => {
    expect(viewsOf('[["Odd", "?status=sleeping&agent=%3Cb%3E&last=1h"]]')[0]?.search).toMatchObject({
      status: undefined,
      agent: undefined,
      last: "1h",
    })
  })

  it("replace one of the same name, lose one by its name, and are not without end", () => {
    const other = { name: "Failed", search: { status: "timed_out" } } as const
    expect(withView([FAILED], other)).toEqual([other])
    expect(withView([FAILED], { name: "  ", search: {} })).toEqual([FAILED])
    expect(withoutView([FAILED], "Failed")).toEqual([])
    const many = Array.from({ length: MOST_VIEWS }, (_, index) => ({ name: `view ${index}`, search: {} }))
    expect(withView(many, FAILED)).toHaveLength(MOST_VIEWS)
  })

  it("are the same when they show the same", () => {
    expect(isSameView({ last: "1h" }, { last: "1h", live: undefined })).toBe(true)
    expect(isSameView({ last: "1h" }, { last: "1h", order: "slowest" })).toBe(false)
    expect(USUAL_VIEWS.every(({ search }) => isSameView(search, search))).toBe(true)
  })
})
