import { describe, expect, it } from "vitest"

import { lineageTree } from "@/features/trace/lineage"
import { aRecord, MOMENT } from "@/features/trace/records.fixture"
import {
  criticalPath,
  selfSpans,
  skillPairs,
  skillTimes,
  total,
  type SpansById,
} from "@/features/trace/timing"

const NOW = MOMENT + 3_600_000
const START = MOMENT * 1000

/** In milliseconds after the moment of the fixture. */
function shown(spans: SpansById): Record<string, ReadonlyArray<ReadonlyArray<number>>> {
  return Object.fromEntries(
    [...spans].map(([id, list]) => [
      id,
      list.map(({ start, end }) => [(start - START) / 1000, (end - START) / 1000]),
    ]),
  )
}

const call = (id: string, from: number, to: number, parent?: string, agent?: string) =>
  aRecord(id, { createdAt: from, latencyMs: to - from, parent, agent })

describe("self time", () => {
  it("is what is left when the times of the called are taken out, overlapping ones once", () => {
    const tree = lineageTree([call("root", 0, 100), call("a", 10, 40, "root"), call("b", 30, 60, "root")])
    expect(shown(selfSpans(tree, NOW))["root"]).toEqual([
      [0, 10],
      [60, 100],
    ])
    expect(total(selfSpans(tree, NOW).get("root"))).toBe(50_000)
  })

  it("ends with the caller when a called one outlives it, and is nothing when it waits all the time", () => {
    const tree = lineageTree([call("root", 0, 100), call("a", 60, 140, "root"), call("b", 0, 60, "root")])
    expect(shown(selfSpans(tree, NOW))).toEqual({ root: [], b: [[0, 60]], a: [[60, 140]] })
  })
})

describe("the critical path", () => {
  it("follows the call that ended last, and leaves out those that ran beside it", () => {
    const tree = lineageTree([
      call("root", 0, 100),
      call("quick", 10, 50, "root"),
      call("slow", 10, 80, "root"),
      call("below", 20, 70, "slow"),
    ])
    expect(shown(criticalPath(tree, NOW))).toEqual({
      root: [
        [0, 10],
        [80, 100],
      ],
      slow: [
        [10, 20],
        [70, 80],
      ],
      below: [[20, 70]],
    })
  })

  it("goes through calls one after the other, without a gap and without an overlap", () => {
    const tree = lineageTree([
      call("root", 0, 100),
      call("a", 0, 30, "root"),
      call("b", 30, 60, "root"),
      call("c", 65, 90, "root"),
    ])
    const path = criticalPath(tree, NOW)
    expect([...path.keys()].sort()).toEqual(["a", "b", "c", "root"])
    expect([...path.values()].reduce((sum, spans) => sum + total(spans), 0)).toBe(100_000)
  })

  it("counts a call that outlives its caller up to the caller's end", () => {
    const tree = lineageTree([call("root", 0, 50), call("a", 10, 90, "root")])
    expect(shown(criticalPath(tree, NOW))).toEqual({ root: [[0, 10]], a: [[10, 50]] })
  })

  it("begins with the root that ends last", () => {
    const tree = lineageTree([call("one", 0, 50), call("two", 10, 90)])
    expect([...criticalPath(tree, NOW).keys()]).toEqual(["two"])
  })

  it("is empty for no Invocation", () => {
    expect(criticalPath([], NOW).size).toBe(0)
  })
})

describe("the times of Skills", () => {
  const before = lineageTree([
    call("root", 0, 100, undefined, "acme:brief"),
    call("a", 10, 40, "root", "acme:sum"),
    call("b", 50, 90, "root", "acme:sum"),
  ])

  it("add up the calls of a Skill, the longest self time first", () => {
    const times = skillTimes(before, NOW)
    expect(times.map(({ agentId, calls, total: all, self }) => [agentId, calls, all, self])).toEqual([
      ["acme:sum", 2, 70_000, 70_000],
      ["acme:brief", 1, 100_000, 30_000],
    ])
    expect(times[0]?.example.invocationId).toBe("b")
  })

  it("are compared with those of another Trace, also where only one has the Skill", () => {
    const after = lineageTree([
      call("root", 0, 90, undefined, "acme:brief"),
      call("c", 0, 60, "root", "acme:new"),
    ])
    const pairs = skillPairs(skillTimes(before, NOW), skillTimes(after, NOW))
    expect(pairs.map(({ key, more }) => [key.split(" ")[0], more])).toEqual([
      ["acme:sum", -70_000],
      ["acme:new", 60_000],
      ["acme:brief", 0],
    ])
    expect(pairs[1]?.left).toBeUndefined()
  })
})
