import { describe, expect, it } from "vitest"

import { callGraph } from "@/features/trace/graph"
import { drawingOf, NODE_HEIGHT, NODE_WIDTH, type Drawing } from "@/features/trace/graphLayout"
import { aRecord, MOMENT } from "@/features/trace/records.fixture"

const NOW = MOMENT + 60_000

function apart(drawing: Drawing): boolean {
  const places = [...drawing.places.values()]
  return places.every((a, index) =>
    places
      .slice(index + 1)
      .every((b) => Math.abs(a.x - b.x) >= NODE_WIDTH || Math.abs(a.y - b.y) >= NODE_HEIGHT),
  )
}

/** Points of a path, the ends of its curves and many between them. */
function pointsOn(path: string): ReadonlyArray<readonly [number, number]> {
  const numbers = (path.match(/-?\d+\.\d/g) ?? []).map(Number)
  const pairs = Array.from({ length: numbers.length / 2 }, (_, index) => [
    numbers[2 * index] ?? 0,
    numbers[2 * index + 1] ?? 0,
  ])
  const found: Array<readonly [number, number]> = []
  for (let index = 0; index + 3 < pairs.length; index += 3) {
    const [a = [], b = [], c = [], d = []] = pairs.slice(index, index + 4)
    for (let t = 0; t <= 1; t += 0.05) {
      const of = (axis: 0 | 1) =>
        (1 - t) ** 3 * (a[axis] ?? 0) +
        3 * (1 - t) ** 2 * t * (b[axis] ?? 0) +
        3 * (1 - t) * t ** 2 * (c[axis] ?? 0) +
        t ** 3 * (d[axis] ?? 0)
      found.push([of(0), of(1)])
    }
  }
  return found
}

/** No edge runs behind a node and no label is under one. */
function readable(drawing: Drawing): boolean {
  const inside = (x: number, y: number) =>
    [...drawing.places.values()].some(
      (place) =>
        x > place.x + 2 && x < place.x + NODE_WIDTH - 2 && y > place.y + 2 && y < place.y + NODE_HEIGHT - 2,
    )
  return drawing.edges.every(
    ({ path, label }) => !inside(label.x, label.y) && pointsOn(path).every(([x, y]) => !inside(x, y)),
  )
}

describe("the drawing of a call graph", () => {
  it("a caller is left of those it calls", () => {
    const graph = callGraph(
      [
        aRecord("a", { createdAt: 0, agent: "acme:one" }),
        aRecord("b", { createdAt: 1, parent: "a", agent: "acme:two" }),
        aRecord("c", { createdAt: 2, parent: "b", agent: "acme:three" }),
      ],
      NOW,
    )
    const drawing = drawingOf(graph)
    const [one, two, three] = graph.nodes.map((node) => drawing.places.get(node.key)?.x ?? 0)
    expect(one).toBeLessThan(two ?? 0)
    expect(two).toBeLessThan(three ?? 0)
    expect(drawing.edges).toHaveLength(2)
  })

  it("recursion, calls within a level and calls back up leave nodes and labels free", () => {
    const agents = ["acme:one", "acme:two", "acme:three", "acme:four"]
    const records = [aRecord("r", { createdAt: 0, agent: "acme:one" })]
    for (const [from, agent] of agents.entries()) {
      records.push(aRecord(`${from}`, { createdAt: 1 + from, parent: "r", agent }))
      for (const [to, called] of agents.entries()) {
        records.push(aRecord(`${from}-${to}`, { createdAt: 9 + from, parent: `${from}`, agent: called }))
      }
    }
    const drawing = drawingOf(callGraph(records, NOW))
    expect(drawing.places.size).toBe(4)
    expect(drawing.edges).toHaveLength(16)
    expect(apart(drawing)).toBe(true)
    expect(readable(drawing)).toBe(true)
  })

  it("30 Agents that call each other in a tree with shared leaves stay apart", () => {
    const records = [aRecord("0", { createdAt: 0, agent: "acme:agent-0" })]
    for (let place = 1; place < 90; place += 1) {
      const parent = String(Math.floor((place - 1) / 3))
      records.push(
        aRecord(String(place), { createdAt: place, parent, agent: `acme:agent-${(place * 7) % 30}` }),
      )
    }
    const drawing = drawingOf(callGraph(records, NOW))
    expect(drawing.places.size).toBe(30)
    // Three calls deep at most, so that it is no endless chain.
    expect(new Set([...drawing.places.values()].map(({ x }) => Math.round(x))).size).toBeLessThanOrEqual(5)
    expect(apart(drawing)).toBe(true)
    expect(readable(drawing)).toBe(true)
  })
})
