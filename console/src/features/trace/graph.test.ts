import { describe, expect, it } from "vitest"

import { callGraph, mainEdges, neighboursOf, shapeOf, type GraphEdge } from "@/features/trace/graph"
import { aRecord, MOMENT } from "@/features/trace/records.fixture"

const NOW = MOMENT + 60_000

const TRACE = [
  aRecord("root", { createdAt: 0, agent: "acme:brief" }),
  aRecord("a", { createdAt: 1, parent: "root", agent: "acme:sum", latencyMs: 30 }),
  aRecord("b", { createdAt: 2, parent: "root", agent: "acme:sum", latencyMs: 10, status: "failed" }),
  aRecord("c", { createdAt: 3, parent: "a", agent: "acme:brief" }),
]

describe("the call graph", () => {
  it("calls of one Skill are one node, failed ones first and then the slowest", () => {
    const { nodes } = callGraph(TRACE, NOW)
    expect(nodes.map(({ agentId, failed }) => [agentId, failed])).toEqual([
      ["acme:brief", 0],
      ["acme:sum", 1],
    ])
    expect(nodes[1]?.calls.map((call) => call.invocationId)).toEqual(["b", "a"])
  })

  it("an edge counts the calls of a pair and how many of them failed", () => {
    const { edges, nodes } = callGraph(TRACE, NOW)
    const [brief = "", sum = ""] = nodes.map((node) => node.key)
    expect(edges).toEqual([
      { from: brief, to: sum, calls: 2, failed: 1 },
      { from: sum, to: brief, calls: 1, failed: 0 },
    ])
  })

  it("a caller comes before those it called, in whatever order the records are", () => {
    const { nodes } = callGraph([...TRACE].reverse(), NOW)
    expect(nodes.map((node) => node.agentId)).toEqual(["acme:brief", "acme:sum"])
  })

  it("a record whose parent is not in the Trace has no edge to it", () => {
    expect(callGraph([aRecord("a", { createdAt: 0, parent: "gone" })], NOW).edges).toEqual([])
  })

  it("the shape changes with who calls whom and how often, not with what came of it", () => {
    const failed = TRACE.map((record) => ({ ...record, status: "failed" as const }))
    expect(shapeOf(callGraph(failed, NOW))).toBe(shapeOf(callGraph(TRACE, NOW)))
    expect(shapeOf(callGraph(TRACE.slice(0, 3), NOW))).not.toBe(shapeOf(callGraph(TRACE, NOW)))
  })

  it("the neighbours of a node are its callers, those it calls, and itself", () => {
    const edge = (from: string, to: string) => ({ from, to, calls: 1, failed: 0 })
    const edges = [edge("a", "b"), edge("b", "c"), edge("c", "d")]
    expect([...neighboursOf("b", edges)].sort()).toEqual(["a", "b", "c"])
  })
})

describe("the edges that are drawn", () => {
  const names = Array.from({ length: 30 }, (_, place) => `n${place}`)
  const everybody = names.flatMap((from) =>
    names.map((to): GraphEdge => ({ from, to, calls: 1, failed: from === "n7" && to === "n3" ? 2 : 0 })),
  )

  it("are all of them in a graph that can be read", () => {
    const few = everybody.filter(({ from }) => from === "n0")
    expect(mainEdges({ edges: few })).toEqual(few)
  })

  it("are few where everybody calls everybody, and still lead to each node and to what failed", () => {
    const drawn = mainEdges({ edges: everybody })
    expect(drawn.length).toBeLessThanOrEqual(100)
    expect(new Set(drawn.filter(({ from, to }) => from !== to).map(({ to }) => to)).size).toBe(30)
    expect(drawn.some(({ from, to }) => from === "n7" && to === "n3")).toBe(true)
  })
})
