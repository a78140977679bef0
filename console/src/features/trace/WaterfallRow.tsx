/** One Invocation in the waterfall: its name, indented below its caller, and its bar on the time axis. */

import { ChevronDown, ChevronRight } from "lucide-react"

import type { InvocationEvent } from "@/api/contract.gen"
import { cn } from "@/components/classes"
import { plural } from "@/components/format"
import { span } from "@/components/instants"
import { stateLabel } from "@/domain/StateBadge"
import { failureText } from "@/domain/invocationState"
import type { Branch } from "@/features/trace/lineage"
import { BAR_COLORS } from "@/features/trace/tones"
import { barOf, placeOf, type Axis, type Bar } from "@/features/trace/waterfall"

/** The two columns, the same in the row of the axis. */
export const TRACKS =
  "grid grid-cols-[minmax(8.5rem,2fr)_minmax(0,3fr)] md:grid-cols-[minmax(12rem,1fr)_minmax(0,2fr)]"

interface WaterfallRowProps {
  readonly id: string
  readonly branch: Branch
  readonly axis: Axis
  readonly now: number
  readonly isClosed: boolean
  readonly isActive: boolean
  readonly isChosen: boolean
  /** Known of the chosen one only. */
  readonly events: ReadonlyArray<InvocationEvent>
  readonly onToggle: () => void
  readonly onChoose: () => void
  readonly top: number
  readonly height: number
}

export function WaterfallRow(props: WaterfallRowProps) {
  const { id, branch, axis, now, isClosed, isActive, isChosen, events, onToggle, onChoose, top, height } =
    props
  const { record, children, depth } = branch
  const bar = barOf(record, axis, now)
  const isOpen = children.length === 0 ? undefined : !isClosed
  return (
    // The tree that holds the rows has the focus and hears the keyboard.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
    <div
      id={id}
      role="treeitem"
      tabIndex={-1}
      aria-level={depth + 1}
      aria-posinset={branch.position}
      aria-setsize={branch.siblings}
      aria-expanded={isOpen}
      aria-selected={isChosen}
      aria-label={nameOf(branch, bar)}
      title={failureText(record)}
      className={cn(
        TRACKS,
        "absolute inset-x-0 cursor-pointer items-center border-b border-line outline-none hover:bg-hover",
        isChosen && "bg-accent-soft hover:bg-accent-soft",
        isActive && "group-focus-visible/tree:shadow-[inset_0_0_0_2px_var(--accent)]",
      )}
      style={{ height, transform: `translateY(${top}px)` }}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
    >
      <div
        className="flex min-w-0 items-center gap-1 pr-2 text-sm"
        style={{ paddingLeft: 8 + Math.min(depth, 8) * 14 }}
      >
        <Toggle isOpen={isOpen} onToggle={onToggle} />
        <span className="min-w-0 leading-tight">
          <span className="block truncate">{record.capability}</span>
          <span className="block truncate font-mono text-xs text-muted">{record.targetAgentId}</span>
        </span>
        {isClosed ? <span className="text-xs text-muted">+{branch.descendants}</span> : null}
      </div>
      <BarPicture bar={bar} marks={events.map((event) => placeOf(event.occurredAt, axis))} />
    </div>
  )
}

function nameOf({ record, descendants }: Branch, bar: Bar): string {
  const parts = [
    `${record.capability} on ${record.targetAgentId}`,
    stateLabel(bar.state),
    span(bar.length),
    ...(descendants > 0 ? [`${plural(descendants, "Invocation")} below`] : []),
  ]
  return parts.join(", ")
}

interface ToggleProps {
  readonly isOpen: boolean | undefined
  readonly onToggle: () => void
}

function Toggle({ isOpen, onToggle }: ToggleProps) {
  if (isOpen === undefined) return <span className="w-5 shrink-0" />
  const Icon = isOpen ? ChevronDown : ChevronRight
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-label={isOpen ? "Close" : "Open"}
      className="grid size-5 shrink-0 cursor-pointer place-items-center rounded text-muted hover:bg-line hover:text-ink"
      onClick={(event) => {
        event.stopPropagation()
        onToggle()
      }}
    >
      <Icon aria-hidden className="size-4" />
    </button>
  )
}

const HATCHED =
  "bg-[repeating-linear-gradient(135deg,var(--bad)_0_3px,transparent_3px_7px)] border border-bad"

function BarPicture({ bar, marks }: { readonly bar: Bar; readonly marks: ReadonlyArray<number> }) {
  const interrupted = bar.state === "interrupted"
  const end = bar.left + bar.width
  return (
    <div aria-hidden className="relative mr-4 h-full">
      <div
        className={cn(
          "absolute top-1/2 h-3 min-w-[3px] -translate-y-1/2 rounded-xs",
          interrupted ? HATCHED : BAR_COLORS[bar.state],
          bar.state === "running" && "opacity-70",
        )}
        style={{ left: percent(bar.left), width: percent(bar.width) }}
      />
      {interrupted && bar.recorded > 0 ? (
        <div
          className="absolute top-1/2 h-3 -translate-y-1/2 rounded-xs bg-bad"
          style={{ left: percent(bar.left), width: percent(bar.recorded) }}
        />
      ) : null}
      {marks.map((at, index) => (
        <div
          key={index}
          className="absolute top-1/2 h-4.5 w-px -translate-y-1/2 bg-ink"
          style={{ left: percent(at) }}
        />
      ))}
      {bar.deadline === undefined ? null : (
        <div
          className="absolute top-1 bottom-1 border-l-2 border-dotted border-warn"
          style={{ left: `calc(${percent(bar.deadline)} - 1px)` }}
        />
      )}
      <span
        className="absolute top-1/2 -translate-y-1/2 px-1.5 text-xs whitespace-nowrap text-ink tabular-nums"
        style={labelPlace(bar.left, end)}
      >
        {span(bar.length)}
      </span>
    </div>
  )
}

/** Behind the bar, before it, or, when it fills the axis, on a surface of its own inside its end. */
function labelPlace(left: number, end: number): React.CSSProperties {
  if (end < 0.72) return { left: percent(end) }
  if (left > 0.28) return { right: percent(1 - left) }
  return { right: `calc(${percent(1 - end)} + 6px)`, background: "var(--surface)", borderRadius: 8 }
}

function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(4)}%`
}
