/** Who called whom in a Trace: one node for each Skill of an Agent version, one edge for each pair; where they are drawn is decided in `graphLayout`. */

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
}

export interface GraphEdge {
  readonly from: string
  readonly to: string
  readonly calls: number
  readonly failed: number
}

export interface CallGraph {
  /** Callers before those they called first: a layout in layers then begins with the roots. */
  readonly nodes: ReadonlyArray<GraphNode>
  readonly edges: ReadonlyArray<GraphEdge>
}

export function nodeKeyOf(record: InvocationRecord): string {
  return [record.targetAgentId, record.agentCardVersion, record.capability].join(" ")
}

export function callGraph(records: ReadonlyArray<InvocationRecord>, now: number): CallGraph {
  const byTime = [...records].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
  const groups = grouped(byTime, nodeKeyOf)
  return { nodes: [...groups].map(([key, group]) => nodeOf(key, group, now)), edges: edgesOf(byTime, now) }
}

/** The same text for graphs that are drawn in the same places, whatever their numbers say. */
export function shapeOf({ nodes, edges }: CallGraph): string {
  const pairs = edges.map(({ from, to, calls }) => `${from}\n${to}\n${calls}`)
  return [...nodes.map((node) => node.key), ...pairs].join("\n\n")
}

/** So many edges are drawn beside the one that first leads to each node. */
const FURTHER_EDGES = 40

/**
 * The edges worth drawing: the first to each node, calls of a Skill by itself, and of the others those that failed most and are used most.
 * A Trace can join everybody with everybody; nobody could read that, and its layout would hold up the page for seconds.
 */
export function mainEdges({ edges }: Pick<CallGraph, "edges">): ReadonlyArray<GraphEdge> {
  const reached = new Set<string>()
  const isFirst = ({ from, to }: GraphEdge) => from === to || (!reached.has(to) && reached.add(to).size > 0)
  const first = new Set(edges.filter(isFirst))
  const others = edges.filter((edge) => !first.has(edge))
  others.sort((a, b) => b.failed - a.failed || b.calls - a.calls)
  const kept = new Set([...first, ...others.slice(0, FURTHER_EDGES)])
  return edges.filter((edge) => kept.has(edge))
}

/** The keys of a node's callers, of those it calls, and its own. */
export function neighboursOf(key: string, edges: ReadonlyArray<GraphEdge>): ReadonlySet<string> {
  const touching = edges.filter((edge) => edge.from === key || edge.to === key)
  return new Set([key, ...touching.flatMap((edge) => [edge.from, edge.to])])
}

function edgesOf(records: ReadonlyArray<InvocationRecord>, now: number): ReadonlyArray<GraphEdge> {
  const byId = new Map(records.map((record) => [record.invocationId, record]))
  const edges = new Map<string, { -readonly [Member in keyof GraphEdge]: GraphEdge[Member] }>()
  for (const record of records) {
    const parent = record.parentInvocationId === undefined ? undefined : byId.get(record.parentInvocationId)
    if (parent === undefined) continue
    const [from, to] = [nodeKeyOf(parent), nodeKeyOf(record)]
    const edge = edges.get(`${from}\n${to}`) ?? { from, to, calls: 0, failed: 0 }
    edge.calls += 1
    if (isFailure(stateOf(record, now))) edge.failed += 1
    edges.set(`${from}\n${to}`, edge)
  }
  return [...edges.values()]
}

function nodeOf(key: string, group: ReadonlyArray<InvocationRecord>, now: number): GraphNode {
  const failure = (record: InvocationRecord) => isFailure(stateOf(record, now))
  const calls = [...group].sort(
    (a, b) => Number(failure(b)) - Number(failure(a)) || (b.latencyMs ?? 0) - (a.latencyMs ?? 0),
  )
  const [agentId = "", version = "", capability = ""] = key.split(" ")
  return { key, agentId, version, capability, calls, failed: group.filter(failure).length }
}
