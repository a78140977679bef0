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
