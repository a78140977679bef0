/** The edges of the call graph with their counts; those of the node that is pointed at stand out. */

import { useId } from "react"

import { cn } from "@/components/classes"
import type { GraphEdge } from "@/features/trace/graph"
import { labelOf, labelWidth, type DrawnEdge, type Drawing, type Place } from "@/features/trace/graphLayout"

interface GraphEdgesProps {
  readonly drawing: Drawing
  /** With the numbers of this moment; the drawing keeps those of its layout. */
  readonly edges: ReadonlyArray<GraphEdge>
  readonly lit: string | undefined
}

export function GraphEdges({ drawing, edges, lit }: GraphEdgesProps) {
  const id = useId()
  const current = new Map(edges.map((edge) => [`${edge.from}\n${edge.to}`, edge]))
  return (
    <svg aria-hidden width={drawing.width} height={drawing.height} className="absolute inset-0">
      <defs>
        <Arrow id={`${id}-plain`} className="fill-control" />
        <Arrow id={`${id}-failed`} className="fill-bad" />
      </defs>
      {drawing.edges.map((drawn) => {
        const edge = current.get(`${drawn.edge.from}\n${drawn.edge.to}`) ?? drawn.edge
        const isDim = lit !== undefined && edge.from !== lit && edge.to !== lit
        return (
          <g key={`${edge.from}\n${edge.to}`} className={cn(isDim && "opacity-15")}>
            <Line drawn={drawn} edge={edge} arrow={`url(#${id}-${edge.failed > 0 ? "failed" : "plain"})`} />
          </g>
        )
      })}
    </svg>
  )
}

function Arrow({ id, className }: { readonly id: string; readonly className: string }) {
  return (
    <marker
      id={id}
      viewBox="0 0 8 8"
      refX="7"
      refY="4"
      markerWidth="8"
      markerHeight="8"
      markerUnits="userSpaceOnUse"
      orient="auto"
    >
      <path d="M 0 0 L 8 4 L 0 8 z" className={className} />
    </marker>
  )
}

interface LineProps {
  readonly drawn: DrawnEdge
  readonly edge: GraphEdge
  readonly arrow: string
}

function Line({ drawn: { path, label }, edge, arrow }: LineProps) {
  const width = labelWidth(edge)
  return (
    <>
      <path
        d={path}
        fill="none"
        markerEnd={arrow}
        strokeWidth={Math.min(4, 1.25 + Math.log2(edge.calls) / 3)}
        className={edge.failed > 0 ? "stroke-bad" : "stroke-control"}
      />
      {width === 0 ? null : <Label at={label} edge={edge} width={width} />}
    </>
  )
}

interface LabelProps {
  readonly at: Place
  readonly edge: GraphEdge
  readonly width: number
}

function Label({ at, edge, width }: LabelProps) {
  return (
    <>
      <rect
        x={at.x - width / 2}
        y={at.y - 9}
        width={width}
        height={18}
        rx={9}
        className={cn("fill-surface", edge.failed > 0 ? "stroke-bad" : "stroke-line-strong")}
      />
      <text x={at.x} y={at.y + 4} textAnchor="middle" className="fill-ink text-xs tabular-nums">
        {labelOf(edge)}
      </text>
    </>
  )
}
