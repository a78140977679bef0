/** Invocations per minute over the last hour: succeeded, failed and other ones on top of each other. */

import { useMemo } from "react"

import { plural } from "@/components/format"
import type { Minute } from "@/features/status/figures"

const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" })

export function MinuteChart({ minutes }: { readonly minutes: ReadonlyArray<Minute> }) {
  const busiest = useMemo(
    () => minutes.reduce((best, minute) => (callsOf(minute) > callsOf(best) ? minute : best)),
    [minutes],
  )
  const highest = Math.max(1, callsOf(busiest))
  const failed = minutes.reduce((sum, minute) => sum + minute.failed, 0)
  return (
    <figure>
      <div
        role="img"
        aria-label={`Invocations per minute in the last hour: at most ${callsOf(busiest)}, at ${clock(busiest)}; ${failed} failed.`}
        className="relative flex h-36 items-end gap-px border-b border-line-strong"
      >
        <span className="absolute top-0 left-0 rounded bg-surface/80 pr-1 text-xs text-muted tabular-nums">
          {plural(highest, "Invocation")} a minute
        </span>
        {minutes.map((minute) => (
          <MinuteBar key={minute.start} minute={minute} highest={highest} />
        ))}
      </div>
      <div aria-hidden className="mt-1 flex justify-between text-xs text-muted tabular-nums">
        <span>{clock(minutes[0])}</span>
        <span>{clock(minutes[minutes.length / 2])}</span>
        <span>now</span>
      </div>
      <figcaption className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
        <Key color="bg-ok">succeeded</Key>
        <Key color="bg-bad">failed, timed out, interrupted</Key>
        <Key color="bg-control">running, canceled</Key>
      </figcaption>
    </figure>
  )
}

function MinuteBar({ minute, highest }: { readonly minute: Minute; readonly highest: number }) {
  const parts = [
    ["bg-control", minute.other],
    ["bg-bad", minute.failed],
    ["bg-ok", minute.succeeded],
  ] as const
  return (
    <div
      title={`${clock(minute)}: ${minute.succeeded} succeeded, ${minute.failed} failed, ${minute.other} other`}
      className="flex h-full flex-1 flex-col justify-end hover:bg-hover"
    >
      {parts.map(([color, number]) =>
        number === 0 ? null : (
          <div
            key={color}
            className={`${color} min-h-px first:rounded-t-xs`}
            style={{ height: `${(number / highest) * 80}%` }}
          />
        ),
      )}
    </div>
  )
}

function Key({ color, children }: { readonly color: string; readonly children: string }) {
  return (
    <span className="inline-flex items-center gap-1.5">
      <span aria-hidden className={`${color} size-2.5 rounded-xs`} />
      {children}
    </span>
  )
}

function callsOf({ succeeded, failed, other }: Minute): number {
  return succeeded + failed + other
}

function clock(minute: Minute | undefined): string {
  return minute === undefined ? "" : CLOCK.format(minute.start)
}
