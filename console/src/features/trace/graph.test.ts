import { describe, expect, it } from "vitest"

import { callGraph, NODE_WIDTH } from "@/features/trace/graph"
import { aRecord, MOMENT } from "@/features/trace/records.fixture"

const LATER = MOMENT + 3_600_000

const trace = [
  aRecord("root", { createdAt: 0, agent: "brief" }),
  aRecord("s1", { createdAt: 1, parent: "root", agent: "summarizer", latencyMs: 30 }),
  aRecord("s2", { createdAt: 2, parent: "root", agent: "summarizer", latencyMs: 50 }),
  aRecord("s3", { createdAt: 2, parent: "root", agent: "summarizer", latencyMs: 10, status: "failed" }),
  aRecord("items", { createdAt: 3, parent: "s1", agent: "items" }),
]

describe("the call graph", () => {
  it("has one node per Skill and one edge per who calls whom", () => {
    const { nodes, edges } = callGraph(trace, LATER)
    expect(nodes.map((node) => [node.agentId, node.calls.length, node.failed])).toEqual([
      ["brief", 1, 0],
      ["summarizer", 3, 1],
      ["items", 1, 0],
    ])
    expect(
      edges.map((edge) => [edge.from.split(" ")[0], edge.to.split(" ")[0], edge.calls, edge.failed]),
    ).toEqual([
      ["brief", "summarizer", 3, 1],
      ["summarizer", "items", 1, 0],
    ])
  })

  it("lists the failed calls first, then the slowest", () => {
    const { nodes } = callGraph(trace, LATER)
    expect(nodes[1]?.calls.map((call) => call.invocationId)).toEqual(["s3", "s2", "s1"])
  })

  it("puts the called to the right of the caller, and nothing on top of another", () => {
    const wide = [
      trace[0],
      ...["a", "b", "c"].map((id) => aRecord(id, { createdAt: 1, parent: "root", agent: id })),
    ]
    const { nodes, width, height } = callGraph(
      wide.filter((record) => record !== undefined),
      LATER,
    )
    const [root, ...called] = nodes
    for (const node of called) expect(node.x).toBeGreaterThan((root?.x ?? 0) + NODE_WIDTH)
    expect(new Set(called.map((node) => node.y)).size).toBe(3)
    expect(root?.y).toBe(called[1]?.y)
    for (const node of nodes) {
      expect(node.x + NODE_WIDTH).toBeLessThanOrEqual(width)
      expect(node.y).toBeLessThanOrEqual(height)
    }
  })

  it("holds calls in a circle and calls of oneself", () => {
    const circle = [
      aRecord("a", { createdAt: 0, agent: "a" }),
      aRecord("b", { createdAt: 1, agent: "b", parent: "a" }),
      aRecord("a2", { createdAt: 2, agent: "a", parent: "b" }),
      aRecord("a3", { createdAt: 3, agent: "a", parent: "a2" }),
    ]
    const { nodes, edges } = callGraph(circle, LATER)
    expect(nodes).toHaveLength(2)
    expect(edges).toHaveLength(3)
    expect(edges.every((edge) => !edge.path.includes("NaN"))).toBe(true)
  })
})
