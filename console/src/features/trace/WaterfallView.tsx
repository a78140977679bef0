/** The waterfall with its tools, its minimap and its legend; what is looked at is in the address. */

import { useMemo } from "react"

import type { InvocationEvent, InvocationRecord } from "@/api/contract.gen"
import { Switch } from "@/components/Field"
import { stateOf } from "@/domain/invocationState"
import { failures, idsMatching, nextOf } from "@/features/trace/find"
import type { Branch } from "@/features/trace/lineage"
import { Minimap } from "@/features/trace/Minimap"
import type { TraceSearch } from "@/features/trace/search"
import { criticalPath, selfSpans } from "@/features/trace/timing"
import { STATE_COLORS } from "@/features/trace/tones"
import { TraceToolbar } from "@/features/trace/TraceToolbar"
import { useLineage } from "@/features/trace/useLineage"
import {
  between,
  inView,
  viewportOf,
  viewportText,
  WHOLE,
  zoomed,
  type Viewport,
} from "@/features/trace/viewport"
import { Waterfall } from "@/features/trace/Waterfall"
import { axisOf, barOf, type Axis } from "@/features/trace/timeAxis"

interface WaterfallViewProps {
  readonly records: ReadonlyArray<InvocationRecord>
  readonly now: number
  readonly chosen: InvocationRecord
  readonly events: ReadonlyArray<InvocationEvent>
  readonly colors: ReadonlyMap<string, string>
  readonly search: TraceSearch
  readonly onChange: (change: TraceSearch) => void
}

export function WaterfallView(props: WaterfallViewProps) {
  const { records, now, events, colors, search, onChange } = props
  const chosen = props.chosen.invocationId
  const lineage = useLineage(records, chosen)
  const { tree, all } = lineage
  const axis = useMemo(
    () => axisOf(records, now, search.deadlines === true),
    [records, now, search.deadlines],
  )
  const view = viewportOf(search.zoom, axis)
  const self = useMemo(() => selfSpans(tree, now), [tree, now])
  const critical = useMemo(
    () => (search.critical === true ? criticalPath(tree, now) : undefined),
    [tree, now, search.critical],
  )
  const found = useMemo(() => idsMatching(records, search.find, now), [records, search.find, now])
  const failed = useMemo(() => failures(records, now), [records, now])
  const step = (ids: ReadonlyArray<string>) => (direction: 1 | -1) => {
    const order = all.map(({ record }) => record.invocationId)
    const invocation = nextOf(ids, order, chosen, direction)
    if (invocation !== undefined) onChange({ invocation })
  }
  const onView = (next: Viewport) => onChange({ zoom: viewportText(next, axis) })
  const drawn = {
    ...{ axis: inView(axis, view), origin: axis.start, now, self, critical },
    colorOf: ({ record }: Branch) =>
      search.color === "state"
        ? STATE_COLORS[stateOf(record, now)]
        : (colors.get(record.targetAgentId) ?? "var(--control)"),
  }
  return (
    <div className="flex flex-col gap-2 lg:h-full">
      <TraceToolbar
        query={search.find}
        onQuery={(find) => onChange({ find })}
        found={{ ids: found, go: step(found) }}
        failures={{ ids: failed, go: step(failed) }}
        lineage={lineage}
        view={view}
        onView={onView}
      />
      <Minimap rows={all} axis={axis} now={now} colors={colors} view={view} onChange={onView} />
      <Waterfall
        label="Waterfall"
        className="max-h-[75dvh] lg:max-h-none lg:min-h-0 lg:flex-1"
        lineage={lineage}
        drawn={drawn}
        chosen={chosen}
        events={events}
        found={new Set(found)}
        onChoose={(invocation) => onChange({ invocation })}
        shortcuts={{
          f: () => step(failed)(1),
          F: () => step(failed)(-1),
          "+": () => onView(zoomed(view, 0.5)),
          "-": () => onView(zoomed(view, 2)),
          "0": () => onView(WHOLE),
          z: (branch) => onView(around(branch, axis, now)),
        }}
      />
      <Legend search={search} onChange={onChange} />
    </div>
  )
}

/** An Invocation with a little room on both sides. */
function around({ record }: Branch, axis: Axis, now: number): Viewport {
  const { left, width } = barOf(record, axis, now)
  return between(left - 0.05 * width, left + 1.05 * width)
}

type LegendProps = Pick<WaterfallViewProps, "search" | "onChange">

function Legend({ search, onChange }: LegendProps) {
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-muted">
      <Switch
        label="Critical path"
        checked={search.critical === true}
        onChange={(event) => onChange({ critical: event.target.checked || undefined })}
      />
      <Switch
        label="Colour by state"
        checked={search.color === "state"}
        onChange={(event) => onChange({ color: event.target.checked ? "state" : undefined })}
      />
      <Switch
        label="Axis up to the deadlines"
        checked={search.deadlines === true}
        onChange={(event) => onChange({ deadlines: event.target.checked || undefined })}
      />
      <span className="inline-flex items-center gap-1.5 lg:max-xl:hidden">
        <span aria-hidden className="h-3 w-5 rounded-xs bg-accent" />
        <span aria-hidden className="-ml-1.5 h-3 w-5 rounded-r-xs bg-accent opacity-35" />
        works itself, waits for others
      </span>
      <span className="inline-flex items-center gap-1.5 lg:max-xl:hidden">
        <span aria-hidden className="h-3.5 border-l-2 border-dotted border-warn" />
        deadline
      </span>
      <span className="inline-flex items-center gap-1.5 lg:max-xl:hidden">
        <span aria-hidden className="h-3.5 w-px bg-ink" />
        events of the chosen one
      </span>
      <span className="max-xl:hidden">
        Keys: arrows, Enter, <kbd>f</kbd> next failure, <kbd>z</kbd> zoom to, <kbd>+</kbd> <kbd>-</kbd>{" "}
        <kbd>0</kbd> zoom
      </span>
    </div>
  )
}
