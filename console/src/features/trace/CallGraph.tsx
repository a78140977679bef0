/** The call graph: who called whom in a Trace, how often, and where it failed. Loaded when it is first looked at, with its layout library. */

import { Maximize, Minus, Plus } from "lucide-react"
import { useEffect, useMemo, useRef, useState } from "react"

import type { InvocationRecord } from "@/api/contract.gen"
import { Button } from "@/components/Button"
import { cn } from "@/components/classes"
import { duration, plural } from "@/components/format"
import {
  callGraph,
  mainEdges,
  neighboursOf,
  nodeKeyOf,
  shapeOf,
  type GraphNode,
} from "@/features/trace/graph"
import { GraphEdges } from "@/features/trace/GraphEdges"
import { drawingOf, NODE_HEIGHT, NODE_WIDTH, type Drawing, type Place } from "@/features/trace/graphLayout"

interface CallGraphProps {
  readonly records: ReadonlyArray<InvocationRecord>
  readonly now: number
  readonly chosen: InvocationRecord
  readonly colors: ReadonlyMap<string, string>
  readonly onChoose: (id: string) => void
}

/** Below this a name cannot be read: the graph scrolls instead, unless somebody asks for the whole of it. */
const LEAST_SCALE = 0.6
const STEP = 1.25

/** By how much, or so that all of it is in view; absent until somebody chooses. */
type Wanted = number | "whole" | undefined

export function CallGraph({ records, now, chosen, colors, onChoose }: CallGraphProps) {
  const whole = useMemo(() => callGraph(records, now), [records, now])
  const graph = useMemo(() => ({ nodes: whole.nodes, edges: mainEdges(whole) }), [whole])
  const shape = shapeOf(graph)
  // oxlint-disable-next-line react/exhaustive-deps -- places depend on the shape alone; laying out again each second would cost for nothing
  const drawing = useMemo(() => drawingOf(graph), [shape])
  const [pointed, setPointed] = useState<string>()
  const chosenKey = nodeKeyOf(chosen)
  const {
    region,
    scale,
    whole: wholeScale,
    setScale,
  } = useFittingScale(drawing, drawing.places.get(chosenKey))
  const lit = pointed === undefined ? undefined : neighboursOf(pointed, graph.edges)
  const left = whole.edges.length - graph.edges.length
  return (
    <div className="relative h-full min-h-64">
      <div
        ref={region}
        role="group"
        aria-label="Call graph"
        // A region that scrolls must be reachable with the keyboard.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        className="h-full max-h-[75dvh] min-h-64 overflow-auto rounded-lg border border-line bg-surface pb-12 lg:max-h-none"
      >
        <div
          className="relative mx-auto"
          style={{ width: drawing.width * scale, height: drawing.height * scale }}
        >
          <div
            className="absolute inset-0 origin-top-left"
            style={{ width: drawing.width, height: drawing.height, transform: `scale(${scale})` }}
          >
            <GraphEdges drawing={drawing} edges={graph.edges} lit={pointed} />
            {graph.nodes.map((node) => (
              <Node
                key={node.key}
                node={node}
                place={drawing.places.get(node.key)}
                color={colors.get(node.agentId)}
                isChosen={node.key === chosenKey}
                isDim={lit?.has(node.key) === false}
                onChoose={onChoose}
                onPoint={setPointed}
              />
            ))}
          </div>
        </div>
      </div>
      {left === 0 ? null : (
        <p className="absolute bottom-2 left-2 max-w-[calc(100%-9rem)] rounded-md bg-raised px-2 py-1 text-xs text-muted">
          {plural(left, "connection with few calls is", "connections with few calls are")} not drawn.
        </p>
      )}
      <Zoom scale={scale} whole={wholeScale} onChange={setScale} />
    </div>
  )
}

/** At first as large as fits, but never so small that nothing can be read; the chosen node is brought into view. */
function useFittingScale({ width, height }: Drawing, chosen: Place | undefined) {
  const region = useRef<HTMLDivElement>(null)
  const [wanted, setScale] = useState<Wanted>()
  const [whole, setWhole] = useState(1)
  useEffect(() => {
    const element = region.current
    if (element === null) return undefined
    const measure = () => {
      const { maxHeight, paddingBottom } = getComputedStyle(element)
      // Where its height follows the graph, there is room up to the greatest.
      const room = (Number.parseFloat(maxHeight) || element.clientHeight) - Number.parseFloat(paddingBottom)
      setWhole(Math.min(1, element.clientWidth / width, room / height))
    }
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [width, height])
  const scale = wanted === "whole" ? whole : (wanted ?? Math.max(LEAST_SCALE, whole))
  const [left, top] = [(chosen?.x ?? 0) + NODE_WIDTH / 2, (chosen?.y ?? 0) + NODE_HEIGHT / 2]
  useEffect(() => {
    const element = region.current
    element?.scrollTo({
      left: left * scale - element.clientWidth / 2,
      top: top * scale - element.clientHeight / 2,
    })
  }, [left, top, scale])
  return { region, scale, whole, setScale }
}

interface ZoomProps {
  readonly scale: number
  /** At which all of the graph is in view. */
  readonly whole: number
  readonly onChange: (scale: Wanted) => void
}

function Zoom({ scale, whole, onChange }: ZoomProps) {
  const button = (label: string, Icon: typeof Plus, to: Wanted) => (
    <Button size="iconSmall" aria-label={label} title={label} onClick={() => onChange(to)}>
      <Icon aria-hidden />
    </Button>
  )
  return (
    <div role="group" aria-label="Size of the graph" className="absolute right-3 bottom-3 flex gap-1">
      {button("Smaller", Minus, Math.max(Math.min(0.3, whole), scale / STEP))}
      {button("Larger", Plus, Math.min(2, scale * STEP))}
      {button("Fit", Maximize, "whole")}
    </div>
  )
}

interface NodeProps {
  readonly node: GraphNode
  readonly place: Place | undefined
  readonly color: string | undefined
  readonly isChosen: boolean
  /** Another node is pointed at that has nothing to do with this one. */
  readonly isDim: boolean
  readonly onChoose: (id: string) => void
  readonly onPoint: (key: string | undefined) => void
}

/** Choosing a node chooses the first of its Invocations: a failed one, else the slowest. */
function Node({ node, place, color, isChosen, isDim, onChoose, onPoint }: NodeProps) {
  const { key, agentId, version, capability, calls, failed } = node
  const slowest = Math.max(0, ...calls.map((call) => call.latencyMs ?? 0))
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      className={cn(
        "absolute cursor-pointer rounded-lg border bg-raised py-1.5 pr-3 pl-4 text-left text-sm hover:bg-hover",
        failed > 0 ? "border-bad" : "border-line-strong",
        isChosen && "bg-accent-soft ring-2 ring-accent hover:bg-accent-soft",
        isDim && "opacity-35",
      )}
      style={{ left: place?.x, top: place?.y, width: NODE_WIDTH, height: NODE_HEIGHT }}
      onClick={() => {
        const first = calls[0]
        if (first !== undefined && !isChosen) onChoose(first.invocationId)
      }}
      onPointerEnter={() => onPoint(key)}
      onPointerLeave={() => onPoint(undefined)}
      onFocus={() => onPoint(key)}
      onBlur={() => onPoint(undefined)}
    >
      <span
        aria-hidden
        className="absolute inset-y-1.5 left-1.5 w-1 rounded-full"
        style={{ background: color }}
      />
      {failed > 0 ? (
        <span className="absolute -top-2.5 right-2 rounded-full bg-bad px-2 py-0.5 text-xs leading-4 font-semibold text-surface tabular-nums">
          {failed} failed
        </span>
      ) : null}
      <span className="block truncate font-medium">{capability}</span>
      <span className="block truncate font-mono text-xs text-muted" title={`${agentId} ${version}`}>
        {agentId} {version}
      </span>
      <span className="block truncate text-xs text-muted tabular-nums">
        {plural(calls.length, "call")}, {calls.length > 1 ? "slowest " : ""}
        {duration(slowest)}
      </span>
    </button>
  )
}
