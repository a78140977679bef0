/** Invocations step by step over a range of time: succeeded, failed and other ones on top of each other. */

import type { Figures, FiguresBucket } from "@/api/contract.gen"
import { count, plural, shortDateTime } from "@/components/format"
import { failedOf } from "@/features/status/figures"
import { scaleOf } from "@/features/status/scale"

export function StepChart({ figures }: { readonly figures: Figures }) {
  const { buckets, total } = figures
  const { top, cut } = scaleOf(buckets.map(({ counts }) => counts.calls))
  const busiest = buckets.reduce((best, bucket) => (bucket.counts.calls > best.counts.calls ? bucket : best))
  const most = busiest.counts.calls
  const middle = buckets[Math.floor(buckets.length / 2)]
  return (
    <figure>
      <div
        role="img"
        aria-label={`Invocations over time: at most ${count(most)} in a step, at ${clock(busiest)}; ${count(failedOf(total.counts))} of ${count(total.counts.calls)} failed.`}
        className="relative flex h-40 items-end gap-px border-b border-line-strong pt-5"
      >
        <span
          aria-hidden
          className="pointer-events-none absolute inset-x-0 top-5 border-t border-dashed border-line"
        />
        {buckets.map((bucket) => (
          <StepBar key={bucket.start} bucket={bucket} top={top} />
        ))}
        <span className="pointer-events-none absolute top-5 left-0 rounded-br bg-surface/80 pr-1 text-xs text-muted tabular-nums">
          {count(top)}
        </span>
        <CutLabels buckets={buckets} top={top} />
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
        {cut === 0 ? null : (
          <span className="basis-full">
            The scale ends at {count(top)}. {plural(cut, "higher bar is", "higher bars are")} cut, with the
            number above; the highest stands for {count(most)}.
          </span>
        )}
      </figcaption>
    </figure>
  )
}

function StepBar({ bucket, top }: { readonly bucket: FiguresBucket; readonly top: number }) {
  const { succeeded, calls } = bucket.counts
  const failed = failedOf(bucket.counts)
  const other = calls - succeeded - failed
  const parts = [
    ["bg-control", other],
    ["bg-bad", failed],
    ["bg-ok", succeeded],
  ] as const
  // A bar that is cut keeps the shares of its parts.
  const whole = Math.max(top, calls)
  return (
    <div
      title={`${clock(bucket)}: ${count(succeeded)} succeeded, ${count(failed)} failed, ${count(other)} other`}
      className="relative flex h-full flex-1 flex-col justify-end hover:bg-hover"
    >
      {parts.map(([color, number]) =>
        number === 0 ? null : (
          <div
            key={color}
            className={`${color} min-h-0.5 first:rounded-t-xs`}
            style={{ height: `${(number / whole) * 100}%` }}
          />
        ),
      )}
      {calls > top ? (
        <span aria-hidden className="absolute inset-x-0 top-2 h-1 -skew-y-12 bg-surface" />
      ) : null}
    </div>
  )
}

interface CutLabelsProps {
  readonly buckets: ReadonlyArray<FiguresBucket>
  readonly top: number
}

/** Above each bar that is cut how many it stands for; of bars beside each other, only above the highest. */
function CutLabels({ buckets, top }: CutLabelsProps) {
  return buckets.map(({ start, counts: { calls } }, place) => {
    const beside = buckets.slice(Math.max(0, place - REACH), place + REACH + 1)
    const before = buckets.slice(Math.max(0, place - REACH), place)
    if (calls <= top || beside.some(({ counts }) => counts.calls > calls)) return null
    if (before.some(({ counts }) => counts.calls === calls)) return null
    const at = ((place + 0.5) / buckets.length) * 100
    return (
      <span
        key={start}
        aria-hidden
        className="pointer-events-none absolute top-0 text-xs font-medium tabular-nums"
        // At the edges the number stays inside the chart.
        style={{ left: `${at}%`, transform: `translateX(-${at}%)` }}
      >
        {count(calls)}
      </span>
    )
  })
}

/** Numbers of bars that are nearer to each other would overlap on a narrow screen. */
const REACH = 5

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
