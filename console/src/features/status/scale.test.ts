import { describe, expect, it } from "vitest"

import { scaleOf } from "@/features/status/scale"

const quiet = (length: number) => Array.from({ length }, (_, place) => 10 + (place % 7))

describe("the scale of the chart", () => {
  it("ends at the highest bar while the others can be read beside it", () => {
    expect(scaleOf([...quiet(59), 100])).toEqual({ top: 100, cut: 0 })
    expect(scaleOf([0, 0, 1000])).toEqual({ top: 1000, cut: 0 })
    expect(scaleOf([0, 0])).toEqual({ top: 1, cut: 0 })
  })

  it("ends a little above the others when one burst is many times higher", () => {
    expect(scaleOf([...quiet(59), 5000])).toEqual({ top: 20, cut: 1 })
    expect(scaleOf([1000, 5, 4, 3, ...Array.from({ length: 56 }, () => 0)])).toEqual({ top: 5, cut: 1 })
  })

  it("cuts a few bursts of different heights together", () => {
    expect(scaleOf([...quiet(57), 4000, 900, 300])).toEqual({ top: 20, cut: 3 })
  })

  it("cuts nothing when high bars are usual", () => {
    const half = Array.from({ length: 30 }, () => 4000)
    expect(scaleOf([...quiet(30), ...half])).toEqual({ top: 4000, cut: 0 })
  })
})
