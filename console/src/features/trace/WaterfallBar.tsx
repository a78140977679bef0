/** The bar of one Invocation: pale while those it called worked, full while it worked itself; with its marks and how long it took. */

import type { CSSProperties } from "react"

import { cn } from "@/components/classes"
import { span } from "@/components/instants"
import type { Bar, Segment } from "@/features/trace/timeAxis"

const AREA = "relative mx-3 h-6 min-w-0 overflow-hidden md:h-full"
const HATCHED =
  "bg-[repeating-linear-gradient(135deg,var(--bad)_0_3px,transparent_3px_7px)] border border-bad"

interface WaterfallBarProps {
  readonly bar: Bar
  readonly color: string
  readonly self: ReadonlyArray<Segment>
  readonly critical: ReadonlyArray<Segment>
  /** Where events of it happened. */
  readonly marks: ReadonlyArray<number>
  /** The code of a failure. */
  readonly failure: string | undefined
}

export function WaterfallBar({ bar, color, self, critical, marks, failure }: WaterfallBarProps) {
  if (bar.isOutside) return <div aria-hidden className={AREA} />
  return (
    <div aria-hidden className={AREA}>
      <Body bar={bar} color={color} self={self} isFailure={failure !== undefined} />
      {critical.map((segment) => (
        <div
          key={segment.left}
          data-critical
          className="absolute top-[calc(50%+7px)] h-0.5 min-w-px bg-ink"
          style={stretch(segment)}
        />
      ))}
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
        className="absolute top-1/2 -translate-y-1/2 truncate px-1.5 text-xs text-ink tabular-nums"
        style={labelPlace(bar.left, bar.left + bar.width)}
      >
        {span(bar.length)}
        {failure === undefined ? null : <span className="ml-1.5 font-medium text-bad">{failure}</span>}
      </span>
    </div>
  )
}

interface BodyProps {
  readonly bar: Bar
  readonly color: string
  readonly self: ReadonlyArray<Segment>
  readonly isFailure: boolean
}

function Body({ bar, color, self, isFailure }: BodyProps) {
  const isInterrupted = bar.state === "interrupted"
  const around = "absolute top-1/2 h-3 -translate-y-1/2 rounded-xs"
  return (
    <>
      <div
        className={cn(around, "min-w-[3px]", isInterrupted ? HATCHED : "opacity-35")}
        style={{ ...stretch(bar), background: isInterrupted ? undefined : color }}
      />
      {isInterrupted ? (
        <div
          className={cn(around, "bg-bad")}
          style={stretch({ left: bar.left, width: Math.max(0, bar.recorded) })}
        />
      ) : (
        self.map((segment) => (
          <div
            key={segment.left}
            className={cn(around, "min-w-[2px]", bar.state === "running" && "opacity-70")}
            style={{ ...stretch(segment), background: color }}
          />
        ))
      )}
      {isFailure && !isInterrupted ? (
        <div
          className={cn(around, "min-w-[3px] border-r-4 border-bad ring-1 ring-bad")}
          style={stretch(bar)}
        />
      ) : null}
    </>
  )
}

/** Behind the bar, before it, or, when it fills the axis, on a surface of its own inside its end. */
function labelPlace(left: number, end: number): CSSProperties {
  if (end < 0.66) return { left: percent(end), maxWidth: percent(1 - end) }
  if (left > 0.34) return { right: percent(1 - left), maxWidth: percent(left) }
  return { right: `calc(${percent(1 - end)} + 6px)`, background: "var(--surface)", borderRadius: 8 }
}

function stretch({ left, width }: Segment): CSSProperties {
  return { left: percent(left), width: percent(width) }
}

function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(4)}%`
}
