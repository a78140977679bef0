/** The call graph of a Trace: one node for each Skill of an Agent version, one edge for each who-calls-whom, laid out in layers. */

import type { InvocationRecord } from "@/api/contract.gen"
import { grouped } from "@/components/groups"
import { isFailure, stateOf } from "@/domain/invocationState"

export interface GraphNode {
  readonly key: string
  readonly agentId: string
  readonly version: string
  readonly capability: string
  /** Its Invocations, failed ones first, then the slowest. */
  readonly calls: ReadonlyArray<InvocationRecord>
  readonly failed: number
  readonly x: number
  readonly y: number
}

export interface GraphEdge {
  readonly from: string
  readonly to: string
  readonly calls: number
  readonly failed: number
  /** An SVG path. */
  readonly path: string
  readonly labelX: number
  readonly labelY: number
}

export interface CallGraph {
  readonly nodes: ReadonlyArray<GraphNode>
  readonly edges: ReadonlyArray<GraphEdge>
  readonly width: number
  readonly height: number
}

export const NODE_WIDTH = 208
export const NODE_HEIGHT = 76
const GAP_X = 88
const GAP_Y = 28
const MARGIN = 16

export function nodeKeyOf(record: InvocationRecord): string {
  return [record.targetAgentId, record.agentCardVersion, record.capability].join(" ")
}

export function callGraph(records: ReadonlyArray<InvocationRecord>, now: number): CallGraph {
  const groups = grouped(records, nodeKeyOf)
  const links = linksOf(records, now)
  const layers = layersOf([...groups.keys()], records, links)
  const tallest = Math.max(1, ...layers.map((layer) => layer.length))
  const hasReturns = links.some((link) => layerOf(link.to, layers) <= layerOf(link.from, layers))
  const height = tallest * (NODE_HEIGHT + GAP_Y) - GAP_Y
  const nodes = layers.flatMap((layer, column) => {
    const top = (height - (layer.length * (NODE_HEIGHT + GAP_Y) - GAP_Y)) / 2
    return layer.map((key, row) =>
      nodeOf(key, groups.get(key) ?? [], now, {
        x: MARGIN + column * (NODE_WIDTH + GAP_X),
        y: MARGIN + top + row * (NODE_HEIGHT + GAP_Y),
      }),
    )
  })
  const placed = new Map(nodes.map((node) => [node.key, node]))
  return {
    nodes,
    edges: links.flatMap((link) => edgeOf(link, placed)),
    width: 2 * MARGIN + layers.length * (NODE_WIDTH + GAP_X) - GAP_X + (hasReturns ? GAP_X / 2 : 0),
    height: 2 * MARGIN + height + (hasReturns ? GAP_Y + MARGIN : 0),
  }
}

interface Link {
  readonly from: string
  readonly to: string
  calls: number
  failed: number
}

function linksOf(records: ReadonlyArray<InvocationRecord>, now: number): ReadonlyArray<Link> {
  const byId = new Map(records.map((record) => [record.invocationId, record]))
  const links = new Map<string, Link>()
  for (const record of records) {
    const parent = record.parentInvocationId === undefined ? undefined : byId.get(record.parentInvocationId)
    if (parent === undefined) continue
    const [from, to] = [nodeKeyOf(parent), nodeKeyOf(record)]
    const link = links.get(`${from}\n${to}`) ?? { from, to, calls: 0, failed: 0 }
    link.calls += 1
    if (isFailure(stateOf(record, now))) link.failed += 1
    links.set(`${from}\n${to}`, link)
  }
  return [...links.values()]
}

/** By the fewest calls from a root; within a layer near the callers, so that few edges cross. */
function layersOf(
  keys: ReadonlyArray<string>,
  records: ReadonlyArray<InvocationRecord>,
  links: ReadonlyArray<Link>,
): ReadonlyArray<ReadonlyArray<string>> {
  const known = new Set(records.map((record) => record.invocationId))
  const isRoot = ({ parentInvocationId: parent }: InvocationRecord) =>
    parent === undefined || !known.has(parent)
  const calls = grouped(links, (link) => link.from)
  const seen = new Set(records.filter(isRoot).map(nodeKeyOf))
  const layers: string[][] = []
  for (let layer = [...seen]; layer.length > 0;) {
    layers.push(layer)
    const next: string[] = []
    for (const link of layer.flatMap((key) => calls.get(key) ?? [])) {
      if (seen.has(link.to)) continue
      seen.add(link.to)
      next.push(link.to)
    }
    layer = next
  }
  const rest = keys.filter((key) => !seen.has(key))
  return rest.length === 0 ? layers : [...layers, rest]
}

function layerOf(key: string, layers: ReadonlyArray<ReadonlyArray<string>>): number {
  return layers.findIndex((layer) => layer.includes(key))
}

function nodeOf(
  key: string,
  group: ReadonlyArray<InvocationRecord>,
  now: number,
  place: { readonly x: number; readonly y: number },
): GraphNode {
  const failure = (record: InvocationRecord) => isFailure(stateOf(record, now))
  const calls = [...group].sort(
    (a, b) => Number(failure(b)) - Number(failure(a)) || (b.latencyMs ?? 0) - (a.latencyMs ?? 0),
  )
  const [agentId = "", version = "", capability = ""] = key.split(" ")
  return { key, agentId, version, capability, calls, failed: group.filter(failure).length, ...place }
}

function edgeOf(link: Link, placed: ReadonlyMap<string, GraphNode>): ReadonlyArray<GraphEdge> {
  const [from, to] = [placed.get(link.from), placed.get(link.to)]
  if (from === undefined || to === undefined) return []
  return [{ ...link, ...(to.x > from.x ? forward(from, to) : backward(from, to)) }]
}

/** From the right side of the caller to the left side of the called. */
function forward(from: GraphNode, to: GraphNode) {
  const [x1, y1] = [from.x + NODE_WIDTH, from.y + NODE_HEIGHT / 2]
  const [x2, y2] = [to.x, to.y + NODE_HEIGHT / 2]
  const middle = (x1 + x2) / 2
  return {
    path: `M ${x1} ${y1} C ${middle} ${y1}, ${middle} ${y2}, ${x2} ${y2}`,
    labelX: middle,
    labelY: (y1 + y2) / 2,
  }
}

/** A call to its own or an earlier layer goes around below. */
function backward(from: GraphNode, to: GraphNode) {
  const [x1, y1] = [from.x + NODE_WIDTH, from.y + NODE_HEIGHT * 0.75]
  const [x2, y2] = [to.x + NODE_WIDTH / 2, to.y + NODE_HEIGHT]
  const below = Math.max(from.y, to.y) + NODE_HEIGHT + GAP_Y
  const right = x1 + GAP_X / 3
  return {
    path: `M ${x1} ${y1} C ${right} ${y1}, ${right} ${below}, ${(x1 + x2) / 2} ${below} S ${x2} ${below}, ${x2} ${y2}`,
    labelX: (x1 + x2) / 2,
    labelY: below,
  }
}
