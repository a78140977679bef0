/** Invocations step by step over a range of time: succeeded, failed and other ones on top of each other. */

import type { Figures, FiguresBucket } from "@/api/contract.gen"
import { count, plural, shortDateTime } from "@/components/format"
import { failedOf } from "@/features/status/figures"
import { scaleOf } from "@/features/status/scale"

/** The part of the height that the scale takes when bars are cut; those stand out above it. */
const SCALE_BELOW_CUT = 0.8
/** Numbers of bars that are nearer to each other would overlap on a narrow screen. */
const REACH = 5

export function StepChart({ figures }: { readonly figures: Figures }) {
  const { buckets, total } = figures
  const { top, cut } = scaleOf(buckets.map(({ counts }) => counts.calls))
  const busiest = buckets.reduce((best, bucket) => (bucket.counts.calls > best.counts.calls ? bucket : best))
  const most = busiest.counts.calls
  const scale = cut === 0 ? 1 : SCALE_BELOW_CUT
  const middle = buckets[Math.floor(buckets.length / 2)]
  return (
    <figure>
      <div
        role="img"
        aria-label={`Invocations over time: at most ${count(most)} in a step, at ${clock(busiest)}; ${count(failedOf(total.counts))} of ${count(total.counts.calls)} failed.`}
        className="relative mt-4 flex h-36 items-end gap-px border-b border-line-strong"
      >
        <span
          aria-hidden
          className="pointer-events-none absolute inset-x-0 border-t border-dashed border-line-strong"
          style={{ bottom: `${scale * 100}%` }}
        />
        {buckets.map((bucket) => (
          <StepBar key={bucket.start} bucket={bucket} top={top} scale={scale} />
        ))}
        <span
          className="pointer-events-none absolute left-0 bg-surface/80 pr-1 text-xs text-muted tabular-nums"
          style={{ bottom: `${scale * 100}%` }}
        >
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

interface StepBarProps {
  readonly bucket: FiguresBucket
  readonly top: number
  readonly scale: number
}

function StepBar({ bucket, top, scale }: StepBarProps) {
  const { succeeded, calls } = bucket.counts
  const failed = failedOf(bucket.counts)
  const other = calls - succeeded - failed
  const parts = [
    ["bg-control", other],
    ["bg-bad", failed],
    ["bg-ok", succeeded],
  ] as const
  const isCut = calls > top
  // A bar that is cut takes the whole height and keeps the shares of its parts.
  const whole = isCut ? calls : top / scale
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
      {isCut ? <span aria-hidden className="absolute inset-x-0 top-[9%] h-1 -skew-y-12 bg-surface" /> : null}
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
        className="pointer-events-none absolute bottom-full text-xs font-medium tabular-nums"
        // At the edges the number stays inside the chart.
        style={{ left: `${at}%`, transform: `translateX(-${at}%)` }}
      >
        {count(calls)}
      </span>
    )
  })
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
