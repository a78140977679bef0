/** The call graph: who called whom in a Trace, how often, and where it went wrong. */

import { useEffect, useMemo, useRef } from "react"

import type { InvocationRecord } from "@/api/contract.gen"
import { cn } from "@/components/classes"
import { duration, plural } from "@/components/format"
import {
  callGraph,
  NODE_HEIGHT,
  NODE_WIDTH,
  nodeKeyOf,
  type GraphEdge,
  type GraphNode,
} from "@/features/trace/graph"

interface CallGraphProps {
  readonly records: ReadonlyArray<InvocationRecord>
  readonly now: number
  readonly chosen: InvocationRecord
  readonly onChoose: (id: string) => void
}

export function CallGraph({ records, now, chosen, onChoose }: CallGraphProps) {
  const graph = useMemo(() => callGraph(records, now), [records, now])
  const scroller = useRef<HTMLDivElement>(null)
  const place = graph.nodes.find((node) => node.key === nodeKeyOf(chosen))
  const [left, top] = [(place?.x ?? 0) + NODE_WIDTH / 2, (place?.y ?? 0) + NODE_HEIGHT / 2]
  useEffect(() => {
    const region = scroller.current
    region?.scrollTo({ left: left - region.clientWidth / 2, top: top - region.clientHeight / 2 })
  }, [left, top])
  return (
    <div
      ref={scroller}
      role="group"
      aria-label="Call graph"
      // A region that scrolls must be reachable with the keyboard.
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      className="max-h-[60dvh] overflow-auto rounded-lg border border-line bg-surface"
    >
      <div className="relative" style={{ width: graph.width, height: graph.height }}>
        <svg aria-hidden width={graph.width} height={graph.height} className="absolute inset-0">
          <defs>
            <marker
              id="arrow"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto"
            >
              <path d="M 0 0 L 8 4 L 0 8 z" className="fill-control" />
            </marker>
          </defs>
          {graph.edges.map((edge) => (
            <Edge key={`${edge.from} ${edge.to}`} edge={edge} />
          ))}
        </svg>
        {graph.nodes.map((node) => (
          <Node key={node.key} node={node} isChosen={nodeKeyOf(chosen) === node.key} onChoose={onChoose} />
        ))}
      </div>
    </div>
  )
}

function Edge({ edge }: { readonly edge: GraphEdge }) {
  const label = `${edge.calls}×`
  return (
    <g>
      <path
        d={edge.path}
        fill="none"
        markerEnd="url(#arrow)"
        strokeWidth={Math.min(4, 1.25 + Math.log2(edge.calls) / 3)}
        className={edge.failed > 0 ? "stroke-bad" : "stroke-control"}
      />
      <rect
        x={edge.labelX - 5 - label.length * 3.5}
        y={edge.labelY - 9}
        width={10 + label.length * 7}
        height={18}
        rx={9}
        className="fill-surface stroke-line-strong"
      />
      <text x={edge.labelX} y={edge.labelY + 4} textAnchor="middle" className="fill-ink text-xs tabular-nums">
        {label}
      </text>
    </g>
  )
}

interface NodeProps {
  readonly node: GraphNode
  readonly isChosen: boolean
  readonly onChoose: (id: string) => void
}

/** Choosing a node chooses the first of its Invocations: a failed one, else the slowest. */
function Node({ node, isChosen, onChoose }: NodeProps) {
  const { agentId, version, capability, calls, failed, x, y } = node
  const slowest = Math.max(0, ...calls.map((call) => call.latencyMs ?? 0))
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      className={cn(
        "absolute cursor-pointer rounded-lg border bg-raised px-3 py-1.5 text-left text-sm hover:bg-hover",
        failed > 0 ? "border-bad" : "border-line-strong",
        isChosen && "bg-accent-soft ring-2 ring-accent hover:bg-accent-soft",
      )}
      style={{ left: x, top: y, width: NODE_WIDTH, height: NODE_HEIGHT }}
      onClick={() => {
        const first = calls[0]
        if (first !== undefined && !isChosen) onChoose(first.invocationId)
      }}
    >
      <span className="block truncate font-medium">{capability}</span>
      <span className="block truncate id-text text-muted" title={`${agentId} ${version}`}>
        {agentId} {version}
      </span>
      <span className="block truncate text-xs text-muted tabular-nums">
        {plural(calls.length, "call")} · {calls.length > 1 ? "slowest " : ""}
        {duration(slowest)}
        {failed > 0 ? <span className="font-medium text-bad"> · {failed} failed</span> : null}
      </span>
    </button>
  )
}
