/** Invocations step by step over a range of time: succeeded, failed and other ones on top of each other. */

import type { Figures, FiguresBucket } from "@/api/contract.gen"
import { plural, shortDateTime } from "@/components/format"
import { failedOf } from "@/features/status/figures"

export function StepChart({ figures }: { readonly figures: Figures }) {
  const { buckets, total } = figures
  const busiest = buckets.reduce((best, bucket) => (bucket.counts.calls > best.counts.calls ? bucket : best))
  const highest = Math.max(1, busiest.counts.calls)
  const middle = buckets[Math.floor(buckets.length / 2)]
  return (
    <figure>
      <div
        role="img"
        aria-label={`Invocations over time: at most ${busiest.counts.calls} in a step, at ${clock(busiest)}; ${failedOf(total.counts)} of ${total.counts.calls} failed.`}
        className="relative flex h-36 items-end gap-px border-b border-line-strong"
      >
        <span className="absolute top-0 left-0 rounded bg-surface/80 pr-1 text-xs text-muted tabular-nums">
          {plural(highest, "Invocation")} at most
        </span>
        {buckets.map((bucket) => (
          <StepBar key={bucket.start} bucket={bucket} highest={highest} />
        ))}
      </div>
      <div aria-hidden className="mt-1 flex justify-between text-xs text-muted tabular-nums">
        <span>{clock(buckets[0])}</span>
        <span>{clock(middle)}</span>
        <span>now</span>
      </div>
      <figcaption className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
        <Key color="bg-ok">succeeded</Key>
        <Key color="bg-bad">failed, timed out</Key>
        <Key color="bg-control">not ended, canceled</Key>
      </figcaption>
    </figure>
  )
}

function StepBar({ bucket, highest }: { readonly bucket: FiguresBucket; readonly highest: number }) {
  const { succeeded, calls } = bucket.counts
  const failed = failedOf(bucket.counts)
  const other = calls - succeeded - failed
  const parts = [
    ["bg-control", other],
    ["bg-bad", failed],
    ["bg-ok", succeeded],
  ] as const
  return (
    <div
      title={`${clock(bucket)}: ${succeeded} succeeded, ${failed} failed, ${other} other`}
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

/** To the minute. */
function clock(bucket: FiguresBucket | undefined): string {
  return bucket === undefined ? "" : shortDateTime(bucket.start).replace(/:\d\d$/, "")
}
