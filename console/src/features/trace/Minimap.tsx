/** The whole Trace at a glance, above the waterfall: a drag across it chooses the part of the time to look at. */

import { useMemo, useState, type PointerEvent } from "react"

import type { Branch } from "@/features/trace/lineage"
import { minimapLines } from "@/features/trace/minimapLines"
import { between, isWhole, moved, type Viewport } from "@/features/trace/viewport"
import type { Axis } from "@/features/trace/timeAxis"

interface MinimapProps {
  readonly rows: ReadonlyArray<Branch>
  /** Of the whole Trace. */
  readonly axis: Axis
  readonly now: number
  readonly colors: ReadonlyMap<string, string>
  readonly view: Viewport
  readonly onChange: (view: Viewport) => void
}

const MOST_LINES = 150
/** A shorter drag is a click: it moves what is in view there. */
const SHORTEST_DRAG = 0.01

export function Minimap({ rows, axis, now, colors, view, onChange }: MinimapProps) {
  const lines = useMemo(() => minimapLines(rows, axis, now, MOST_LINES), [rows, axis, now])
  const [drag, setDrag] = useState<{ readonly from: number; readonly to: number }>()
  const finish = () => {
    setDrag(undefined)
    if (drag === undefined) return
    if (Math.abs(drag.to - drag.from) >= SHORTEST_DRAG) onChange(between(drag.from, drag.to))
    else if (!isWhole(view))
      onChange(moved(view, (drag.to - (view.from + view.to) / 2) / (view.to - view.from)))
  }
  const shown = drag === undefined ? view : between(drag.from, drag.to)
  return (
    // The keyboard and the buttons of the toolbar do the same.
    <div
      role="presentation"
      data-minimap
      title="Drag to look at a part of the time"
      className="relative h-12 shrink-0 cursor-crosshair touch-none overflow-hidden rounded-lg border border-line bg-surface"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        const at = placeIn(event)
        setDrag({ from: at, to: at })
      }}
      onPointerMove={(event) => {
        if (drag !== undefined) setDrag({ ...drag, to: placeIn(event) })
      }}
      onPointerUp={finish}
      onPointerCancel={() => setDrag(undefined)}
    >
      <svg aria-hidden viewBox="0 0 1 1" preserveAspectRatio="none" className="absolute inset-0 size-full">
        {lines.map(({ left, width, failed, agentId }, index) => (
          <rect
            key={index}
            x={left}
            y={0.06 + (0.88 * index) / lines.length}
            width={Math.max(width, 0.003)}
            height={Math.min(0.14, Math.max(0.02, 0.7 / lines.length))}
            style={{ fill: failed ? "var(--bad)" : colors.get(agentId) }}
          />
        ))}
      </svg>
      {isWhole(shown) ? null : (
        <>
          <Shade from={0} to={shown.from} />
          <Shade from={shown.to} to={1} />
          <div
            className="absolute inset-y-0 border-x-2 border-accent"
            style={{ left: percent(shown.from), width: percent(shown.to - shown.from) }}
          />
        </>
      )}
    </div>
  )
}

function Shade({ from, to }: { readonly from: number; readonly to: number }) {
  return (
    <div
      className="absolute inset-y-0 bg-canvas/75"
      style={{ left: percent(from), width: percent(to - from) }}
    />
  )
}

function placeIn(event: PointerEvent<HTMLElement>): number {
  const { left, width } = event.currentTarget.getBoundingClientRect()
  return Math.min(1, Math.max(0, (event.clientX - left) / width))
}

function percent(fraction: number): string {
  return `${fraction * 100}%`
}
