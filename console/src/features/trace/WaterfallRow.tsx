/** One Invocation in the waterfall: its name, indented below its caller, and its bar on the time axis; one above the other where there is little room. */

import { ChevronDown, ChevronRight, CircleAlert, CircleSlash } from "lucide-react"
import { memo } from "react"

import type { InvocationEvent } from "@/api/contract.gen"
import { cn } from "@/components/classes"
import { plural } from "@/components/format"
import { span } from "@/components/instants"
import { stateLabel } from "@/domain/StateBadge"
import { failureText, isFailure } from "@/domain/invocationState"
import type { Branch } from "@/features/trace/lineage"
import { total, type SpansById } from "@/features/trace/timing"
import { barOf, placeOf, segmentsOf, type Axis, type Bar } from "@/features/trace/timeAxis"
import { WaterfallBar } from "@/features/trace/WaterfallBar"

/** The two columns, the same in the row of the axis. */
export const TRACKS = "grid grid-cols-1 content-center md:grid-cols-[minmax(15rem,2fr)_minmax(0,3fr)]"

/** What bars are drawn from. */
export interface Drawn {
  /** The part in view. */
  readonly axis: Axis
  /** The start of the Trace, in microseconds: times on the axis count from it. */
  readonly origin: number
  readonly now: number
  readonly colorOf: (branch: Branch) => string
  readonly self: SpansById
  /** Absent while the critical path is not asked for. */
  readonly critical?: SpansById
}

interface WaterfallRowProps {
  readonly id: string
  readonly branch: Branch
  readonly drawn: Drawn
  readonly isClosed: boolean
  readonly isActive: boolean
  readonly isChosen: boolean
  readonly isFound: boolean
  /** Known of the chosen one only. */
  readonly events: ReadonlyArray<InvocationEvent>
  readonly onToggle: () => void
  readonly onChoose: () => void
  readonly top: number
  readonly height: number
}

/** Drawn again only when it shows something else, which keeps scrolling smooth; what its functions do depends on nothing more. */
export const WaterfallRow = memo(Row, (before, after) => SHOWN.every((name) => before[name] === after[name]))

const SHOWN = [
  ...(["id", "branch", "drawn", "events", "top", "height"] as const),
  ...(["isClosed", "isActive", "isChosen", "isFound"] as const),
]

function Row(props: WaterfallRowProps) {
  const {
    id,
    branch,
    drawn,
    isClosed,
    isActive,
    isChosen,
    isFound,
    events,
    onToggle,
    onChoose,
    top,
    height,
  } = props
  const { record, children, depth } = branch
  const { axis, now } = drawn
  const bar = barOf(record, axis, now)
  const own = drawn.self.get(record.invocationId) ?? []
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
      title={titleOf(branch, bar, total(own))}
      className={cn(
        TRACKS,
        "absolute inset-x-0 cursor-pointer items-center border-b border-line outline-none hover:bg-hover",
        isFound && "bg-warn-soft",
        isChosen && "bg-accent-soft hover:bg-accent-soft",
        isActive && "group-focus-visible/tree:shadow-[inset_0_0_0_2px_var(--accent)]",
      )}
      style={{ height, transform: `translateY(${top}px)` }}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
    >
      <div
        className="flex min-w-0 items-center gap-1.5 pr-2 text-sm"
        style={{ paddingLeft: 6 + Math.min(depth, 10) * 12 }}
      >
        <Toggle isOpen={isOpen} onToggle={onToggle} />
        <span
          aria-hidden
          className="h-3.5 w-1 shrink-0 rounded-full"
          style={{ background: drawn.colorOf(branch) }}
        />
        <Mark bar={bar} />
        <span className="min-w-0 truncate">
          <span className={cn(isFailure(bar.state) && "font-medium text-bad")}>{record.capability}</span>{" "}
          <span className="font-mono text-xs text-muted">{record.targetAgentId}</span>
        </span>
        {isClosed ? (
          <span className="shrink-0 rounded-full bg-hover px-1.5 text-xs text-muted tabular-nums">
            +{branch.descendants}
          </span>
        ) : null}
      </div>
      <WaterfallBar
        bar={bar}
        color={drawn.colorOf(branch)}
        self={segmentsOf(own, axis)}
        critical={segmentsOf(drawn.critical?.get(record.invocationId) ?? [], axis)}
        marks={events.map((event) => placeOf(event.occurredAt, axis))}
        failure={isFailure(bar.state) ? (record.errorCode ?? stateLabel(bar.state)) : undefined}
      />
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

function titleOf(branch: Branch, bar: Bar, self: number): string {
  const failure = failureText(branch.record)
  return [nameOf(branch, bar), `self time ${span(self)}`, ...(failure ? [failure] : [])].join("\n")
}

function Mark({ bar }: { readonly bar: Bar }) {
  if (isFailure(bar.state)) return <CircleAlert aria-hidden className="size-3.5 shrink-0 text-bad" />
  if (bar.state === "canceled") return <CircleSlash aria-hidden className="size-3.5 shrink-0 text-note" />
  return null
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
