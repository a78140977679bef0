/** Where nodes and edges of a call graph are drawn: columns by the fewest calls from a root, the order in them and the ways of edges by dagre. */

import { Graph, layout, type EdgeLabel, type NodeLabel, type Point } from "@dagrejs/dagre"

import { grouped } from "@/components/groups"
import type { CallGraph, GraphEdge } from "@/features/trace/graph"

export const NODE_WIDTH = 216
export const NODE_HEIGHT = 72
/** Below a node that calls itself, for the loop and its label. */
const LOOP_HEIGHT = 36
/** Beside a column, for calls within it. */
const ARC_WIDTH = 56
const MARGIN = 20

export interface Place {
  readonly x: number
  readonly y: number
}

export interface DrawnEdge {
  readonly edge: GraphEdge
  /** An SVG path. */
  readonly path: string
  readonly label: Place
}

export interface Drawing {
  /** The upper left corner of each node, by its key. */
  readonly places: ReadonlyMap<string, Place>
  readonly edges: ReadonlyArray<DrawnEdge>
  readonly width: number
  readonly height: number
}

/** Of a single call nothing is said: most edges are one, and their labels would need more room than the nodes. */
export function labelOf({ calls }: GraphEdge): string {
  return calls === 1 ? "" : `${calls}×`
}

export function labelWidth(edge: GraphEdge): number {
  const { length } = labelOf(edge)
  return length === 0 ? 0 : 10 + length * 7
}

function labelSize(edge: GraphEdge): EdgeLabel {
  const width = labelWidth(edge)
  return { width, height: width === 0 ? 0 : 20, labelpos: "c" }
}

export function drawingOf({ nodes, edges }: CallGraph): Drawing {
  const depths = depthsOf({ nodes, edges })
  const loops = new Set(edges.filter(({ from, to }) => from === to).map(({ from }) => from))
  const graph: Laid = new Graph({ directed: true, multigraph: true })
  graph.setGraph({ rankdir: "LR", nodesep: 24, edgesep: 14, ranksep: 96, marginx: MARGIN, marginy: MARGIN })
  for (const { key } of nodes) {
    graph.setNode(key, { width: NODE_WIDTH, height: NODE_HEIGHT + (loops.has(key) ? LOOP_HEIGHT : 0) })
  }
  for (const edge of edges) {
    const ends = forwards(edge, depths)
    if (ends !== undefined) graph.setEdge(...ends, labelSize(edge), nameOf(edge))
  }
  layout(graph)
  const places = new Map(nodes.map(({ key }) => [key, cornerOf(graph.node(key))]))
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number }
  // An arc beside the last column needs room of its own.
  return { places, edges: drawn(edges, graph, places, depths), width: width + ARC_WIDTH, height }
}

/** The fewest calls that lead from a root to each node. Without this a graph of calls in all directions is one long chain. */
function depthsOf({ nodes, edges }: CallGraph): ReadonlyMap<string, number> {
  const called = new Set(edges.filter(({ from, to }) => from !== to).map(({ to }) => to))
  const calls = grouped(edges, ({ from }) => from)
  const depths = new Map<string, number>()
  const from = (start: ReadonlyArray<string>) => {
    let layer = start.filter((key) => !depths.has(key))
    for (let depth = 0; layer.length > 0; depth += 1) {
      for (const key of layer) depths.set(key, depth)
      const next = layer.flatMap((key) => (calls.get(key) ?? []).map(({ to }) => to))
      layer = [...new Set(next)].filter((key) => !depths.has(key))
    }
  }
  const keys = nodes.map(({ key }) => key)
  from([...keys.slice(0, 1), ...keys.filter((key) => !called.has(key))])
  for (const key of keys) from([key])
  return depths
}

/** An edge as dagre gets it, always to a later column; one within a column is drawn beside it instead. */
function forwards(
  { from, to }: GraphEdge,
  depths: ReadonlyMap<string, number>,
): [string, string] | undefined {
  const difference = (depths.get(to) ?? 0) - (depths.get(from) ?? 0)
  if (difference === 0) return undefined
  return difference > 0 ? [from, to] : [to, from]
}

function nameOf({ from, to }: GraphEdge): string {
  return `${from}\n${to}`
}

type Laid = Graph<object, NodeLabel, EdgeLabel>

function cornerOf({ x = 0, y = 0, width, height }: NodeLabel): Place {
  return { x: x - width / 2, y: y - height / 2 }
}

function drawn(
  edges: ReadonlyArray<GraphEdge>,
  graph: Laid,
  places: ReadonlyMap<string, Place>,
  depths: ReadonlyMap<string, number>,
): ReadonlyArray<DrawnEdge> {
  const columns = new Set([...places.values()].map((place) => Math.round(place.x + NODE_WIDTH / 2)))
  const laid = edges.map((edge) => {
    const ends = forwards(edge, depths)
    return ends === undefined ? undefined : graph.edge(...ends, nameOf(edge))
  })
  const routes = edges.map((edge, index) => routeOf(edge, laid[index], places))
  const ports = portsOf(edges, routes, places)
  return edges.map((edge, index) => {
    const place = places.get(edge.from)
    if (edge.from === edge.to && place !== undefined) return { edge, ...loopAt(place) }
    const [start, end] = [ports.get(`${index} from`), ports.get(`${index} to`)]
    const label = laid[index]
    if (start === undefined || end === undefined) return { edge, path: "", label: { x: 0, y: 0 } }
    if (label === undefined) return { edge, ...arcBetween(start, end) }
    const route = (routes[index] ?? []).flatMap((point) => along(point, columns, start, end))
    return { edge, path: curve([start, ...route, end]), label: { x: label.x ?? 0, y: label.y ?? 0 } }
  })
}

/** The points between the two nodes, from the caller to the called; where an edge meets them is decided by the ports. */
function routeOf(
  edge: GraphEdge,
  laid: EdgeLabel | undefined,
  places: ReadonlyMap<string, Place>,
): ReadonlyArray<Point> {
  if (edge.from === edge.to) return []
  const [from, to] = [places.get(edge.from), places.get(edge.to)]
  if (from === undefined || to === undefined) return []
  // Beside the column, half-way between the two.
  if (laid === undefined)
    return [{ x: from.x + NODE_WIDTH + ARC_WIDTH, y: (from.y + to.y + NODE_HEIGHT) / 2 }]
  const points = (laid.points ?? []).slice(1, -1)
  return from.x < to.x ? points : points.toReversed()
}

/** In a column of nodes an edge stays level for the width of a node, so that it cuts no corner. */
function along(point: Point, columns: ReadonlySet<number>, start: Place, end: Place): ReadonlyArray<Place> {
  if (!columns.has(Math.round(point.x))) return [point]
  const step = (start.x < end.x ? NODE_WIDTH : -NODE_WIDTH) / 2
  return [
    { x: point.x - step, y: point.y },
    { x: point.x + step, y: point.y },
  ]
}

interface Meeting {
  readonly name: string
  readonly node: string
  readonly side: "left" | "right"
  /** Where the edge comes from or goes to: the order of the ports on a side. */
  readonly towards: number
}

/** Every edge meets a node at a place of its own, on the side that faces its next point; neighbours do not cross. */
function portsOf(
  edges: ReadonlyArray<GraphEdge>,
  routes: ReadonlyArray<ReadonlyArray<Point>>,
  places: ReadonlyMap<string, Place>,
): ReadonlyMap<string, Place> {
  const meetings = edges.flatMap((edge, index): ReadonlyArray<Meeting> => {
    const route = routes[index] ?? []
    const [first, last] = [route[0], route.at(-1)]
    if (first === undefined || last === undefined) return []
    return [
      { name: `${index} from`, node: edge.from, ...facing(first, places.get(edge.from)) },
      { name: `${index} to`, node: edge.to, ...facing(last, places.get(edge.to)) },
    ]
  })
  const sides = grouped(meetings, ({ node, side }) => `${side} ${node}`)
  const ports = new Map<string, Place>()
  for (const group of sides.values()) {
    const sorted = [...group].sort((a, b) => a.towards - b.towards)
    sorted.forEach(({ name, node, side }, index) => {
      const { x, y } = places.get(node) ?? { x: 0, y: 0 }
      const down = (NODE_HEIGHT * (index + 1)) / (sorted.length + 1)
      ports.set(name, { x: side === "right" ? x + NODE_WIDTH : x, y: y + down })
    })
  }
  return ports
}

function facing(point: Point, place: Place | undefined): Pick<Meeting, "side" | "towards"> {
  const middle = (place?.x ?? 0) + NODE_WIDTH / 2
  return { side: point.x > middle ? "right" : "left", towards: point.y }
}

/** Through every point, level at each: two edges that share a column never touch in it. */
function curve([first, ...rest]: ReadonlyArray<Place>): string {
  if (first === undefined) return ""
  let path = `M ${at(first)}`
  let from = first
  for (const to of rest) {
    const middle = (from.x + to.x) / 2
    path += ` C ${at({ x: middle, y: from.y })}, ${at({ x: middle, y: to.y })}, ${at(to)}`
    from = to
  }
  return path
}

/** Out of the column and back into it, in the gap between it and the next. */
function arcBetween(start: Place, end: Place): Pick<DrawnEdge, "path" | "label"> {
  // The farther apart, the farther out: arcs of many calls stay distinct.
  const width = ARC_WIDTH * Math.min(1, 0.3 + Math.abs(end.y - start.y) / 1500)
  const right = start.x + width
  return {
    path: `M ${at(start)} C ${at({ x: right, y: start.y })}, ${at({ x: right, y: end.y })}, ${at(end)}`,
    label: { x: start.x + width * 0.75, y: (start.y + end.y) / 2 },
  }
}

/** Out at the bottom and back in beside it. */
function loopAt({ x, y }: Place): Pick<DrawnEdge, "path" | "label"> {
  const [right, left] = [x + NODE_WIDTH * 0.68, x + NODE_WIDTH * 0.32]
  const bottom = y + NODE_HEIGHT
  const deep = bottom + LOOP_HEIGHT
  return {
    path: `M ${at({ x: right, y: bottom })} C ${at({ x: right, y: deep })}, ${at({ x: left, y: deep })}, ${at({ x: left, y: bottom })}`,
    label: { x: x + NODE_WIDTH / 2, y: bottom + LOOP_HEIGHT * 0.72 },
  }
}

function at({ x, y }: Place): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`
}
