/** The last hour of one Workspace, from its list of Invocations. */

import { useEffect, useMemo, type ReactNode } from "react"

import { useInvocationFeed } from "@/api/useInvocationFeed"
import { LoadMore } from "@/components/LoadMore"
import { Loaded } from "@/components/Loaded"
import { Panel } from "@/components/Panel"
import { cn } from "@/components/classes"
import { count, duration, plural } from "@/components/format"
import { useNow } from "@/components/useNow"
import { FailurePanel } from "@/features/status/FailurePanel"
import { MinuteChart } from "@/features/status/MinuteChart"
import { figuresOf, MINUTES, type Figures } from "@/features/status/figures"

const REFRESH_MILLISECONDS = 5000
const HOUR = 3_600_000
/** The list is asked from a fixed time on, which moves now and then so that it does not grow without end. */
const STEP = 15 * 60_000
/** In a busier hour only the newest are counted, and the page says so. */
const MAX_ROWS = 5000

export function HourFigures({ workspaceId }: { readonly workspaceId: string }) {
  const now = useNow(REFRESH_MILLISECONDS)
  const since = new Date(Math.floor((now - HOUR) / STEP) * STEP).toISOString()
  const { query, end } = useInvocationFeed(workspaceId, { since }, REFRESH_MILLISECONDS)
  const rows = query.data?.rows
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = end
  const wantsMore = hasNextPage && (rows?.length ?? 0) < MAX_ROWS
  useEffect(() => {
    if (wantsMore && !isFetchingNextPage && !isFetchNextPageError) fetchNextPage()
  }, [wantsMore, isFetchingNextPage, isFetchNextPageError, fetchNextPage])
  const figures = useMemo(() => figuresOf(rows ?? [], now), [rows, now])
  return (
    <Loaded query={query} what="Invocations of the last hour">
      {() => (
        <div className="space-y-4">
          {isFetchNextPageError ? <LoadMore list={end} /> : null}
          {hasNextPage && !wantsMore ? (
            <p className="text-sm text-muted">
              Only the newest {count(rows?.length ?? 0)} Invocations are counted. The hour had more.
            </p>
          ) : null}
          <Tiles figures={figures} />
          <Panel title="Invocations per minute">
            <MinuteChart minutes={figures.minutes} />
          </Panel>
          <FailurePanel workspaceId={workspaceId} figures={figures} since={since} />
        </div>
      )}
    </Loaded>
  )
}

function Tiles({ figures }: { readonly figures: Figures }) {
  const { calls, failed, success, running, canceled, latency } = figures
  const time = (milliseconds: number | undefined) =>
    milliseconds === undefined ? "–" : duration(milliseconds)
  return (
    <dl className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-6">
      <Tile name="Invocations" note={`${(calls / MINUTES).toFixed(1)} a minute`}>
        {count(calls)}
      </Tile>
      <Tile name="Success" note={successNote(failed, canceled)} isBad={failed > 0}>
        {success === undefined ? "–" : percent(success)}
      </Tile>
      <Tile name="Running" note="at this moment">
        {count(running)}
      </Tile>
      <Tile name="Latency p50" note="half are faster">
        {time(latency?.p50)}
      </Tile>
      <Tile name="Latency p95" note={`p90 ${time(latency?.p90)}`}>
        {time(latency?.p95)}
      </Tile>
      <Tile name="Latency p99" note="1 in 100 is slower">
        {time(latency?.p99)}
      </Tile>
    </dl>
  )
}

function successNote(failed: number, canceled: number): string {
  const parts = [failed > 0 ? `${count(failed)} failed` : "none failed"]
  if (canceled > 0) parts.push(plural(canceled, "canceled", "canceled"))
  return parts.join(", ")
}

/** Never rounded up to all when it is not all. */
function percent(share: number): string {
  return `${(Math.floor(share * 1000) / 10).toFixed(1).replace(/\.0$/, "")} %`
}

interface TileProps {
  readonly name: string
  readonly note: string
  readonly isBad?: boolean
  readonly children: ReactNode
}

function Tile({ name, note, isBad = false, children }: TileProps) {
  return (
    <div className="rounded-lg border border-line bg-surface px-4 py-3">
      <dt className="text-sm text-muted">{name}</dt>
      <dd className={cn("text-xl font-semibold tabular-nums", isBad && "text-bad")}>{children}</dd>
      <dd className="text-xs text-muted">{note}</dd>
    </div>
  )
}
