/** The figures of one Workspace in a range of time, as the server counted them: all of it, or nothing while they are not there. */

import { useQuery } from "@tanstack/react-query"
import type { ReactNode } from "react"

import type { Figures } from "@/api/contract.gen"
import { read } from "@/api/queries"
import { Loaded } from "@/components/Loaded"
import { Panel } from "@/components/Panel"
import { cn } from "@/components/classes"
import { count, duration, plural } from "@/components/format"
import { useNow } from "@/components/useNow"
import { RANGES, type Preset } from "@/domain/range"
import { FailurePanel } from "@/features/status/FailurePanel"
import { failedOf, perMinute, successOf, windowOf } from "@/features/status/figures"
import { SkillPanel } from "@/features/status/SkillPanel"
import { StepChart } from "@/features/status/StepChart"

const REFRESH_MILLISECONDS = 5000

interface WorkspaceFiguresProps {
  readonly workspaceId: string
  readonly range: Preset
}

export function WorkspaceFigures({ workspaceId, range }: WorkspaceFiguresProps) {
  const now = useNow(REFRESH_MILLISECONDS)
  const figures = useQuery({
    ...read("readFigures", { path: { workspaceId }, query: windowOf(range, now) }),
    // The next minute of the same range; those of another are not shown as if they were of this one.
    placeholderData: (before) =>
      before?.workspaceId === workspaceId && lengthOf(before) === RANGES[range].milliseconds
        ? before
        : undefined,
    refetchInterval: REFRESH_MILLISECONDS,
  })
  return (
    <Loaded query={figures} what="Figures">
      {(found) => (
        <div className="space-y-4">
          <Tiles figures={found} />
          <Panel title={`Invocations per ${stepWords(found.step)}`}>
            <StepChart figures={found} />
          </Panel>
          <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-2">
            <FailurePanel figures={found} />
            <SkillPanel figures={found} />
          </div>
          <p className="text-sm text-muted">
            Counted by the platform from the Ledger. Latencies are of all that ended; p50, p90 and p99 are at
            most {found.latencyError * 100} % off.
          </p>
        </div>
      )}
    </Loaded>
  )
}

function lengthOf({ since, until }: Figures): number {
  return Date.parse(until) - Date.parse(since)
}

function stepWords(seconds: number): string {
  if (seconds === 60) return "minute"
  return seconds < 3600 ? `${seconds / 60} minutes` : plural(seconds / 3600, "hour").replace(/^1 /, "")
}

function Tiles({ figures }: { readonly figures: Figures }) {
  const { counts, latency } = figures.total
  const failed = failedOf(counts)
  const success = successOf(counts)
  const time = (milliseconds: number | undefined) =>
    milliseconds === undefined ? "–" : duration(milliseconds)
  return (
    <dl className="grid grid-cols-2 gap-3 sm:grid-cols-3 xl:grid-cols-6">
      <Tile name="Invocations" note={`${perMinute(counts, figures).toFixed(1)} a minute`}>
        {count(counts.calls)}
      </Tile>
      <Tile name="Success" note={successNote(failed, counts.canceled)} isBad={failed > 0}>
        {success === undefined ? "–" : percent(success)}
      </Tile>
      <Tile name="Not ended" note="running or interrupted">
        {count(counts.running)}
      </Tile>
      <Tile name="Latency p50" note="half are faster">
        {time(latency?.p50)}
      </Tile>
      <Tile name="Latency p90" note="9 in 10 are faster">
        {time(latency?.p90)}
      </Tile>
      <Tile name="Latency p99" note={`slowest ${time(latency?.max)}`}>
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
