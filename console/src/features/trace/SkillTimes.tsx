/** Where the time of a Trace went, Skill by Skill; each leads to its slowest Invocation. */

import { useMemo } from "react"

import type { InvocationRecord } from "@/api/contract.gen"
import { Badge } from "@/components/Badge"
import { count } from "@/components/format"
import { span } from "@/components/instants"
import { lineageTree } from "@/features/trace/lineage"
import { SkillName } from "@/features/trace/SkillName"
import { skillTimes, type SkillTime } from "@/features/trace/timing"

interface SkillTimesProps {
  readonly records: ReadonlyArray<InvocationRecord>
  readonly now: number
  readonly colors: ReadonlyMap<string, string>
  readonly onChoose: (id: string) => void
}

export function SkillTimes({ records, now, colors, onChoose }: SkillTimesProps) {
  const times = useMemo(() => skillTimes(lineageTree(records), now), [records, now])
  const all = times.reduce((sum, time) => sum + time.self, 0)
  return (
    <div
      className="max-h-[75dvh] overflow-auto rounded-lg border border-line bg-surface lg:max-h-full"
      // A region that scrolls must be reachable with the keyboard.
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
    >
      <table className="w-full text-sm tabular-nums">
        <caption className="sr-only">The time of each Skill, the longest self time first</caption>
        <thead className="sticky top-0 bg-sunken text-left text-xs text-muted">
          <tr className="[&>th]:px-3 [&>th]:py-2 [&>th]:font-medium">
            <th scope="col">Skill</th>
            <th scope="col" className="text-right">
              Calls
            </th>
            <th scope="col">Failed</th>
            <th scope="col" className="text-right">
              Self time
            </th>
            <th scope="col" className="text-right max-sm:hidden">
              All time
            </th>
            <th scope="col" className="text-right">
              Slowest
            </th>
          </tr>
        </thead>
        <tbody>
          {times.map((time) => (
            <Row
              key={time.key}
              time={time}
              share={all === 0 ? 0 : time.self / all}
              color={colors.get(time.agentId)}
              onChoose={onChoose}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface RowProps {
  readonly time: SkillTime
  /** Of the self time of all Skills. */
  readonly share: number
  readonly color: string | undefined
  readonly onChoose: (id: string) => void
}

function Row({ time, share, color, onChoose }: RowProps) {
  return (
    <tr className="border-t border-line hover:bg-hover [&>td]:px-3 [&>td]:py-2 [&>th]:px-3 [&>th]:py-2">
      <th scope="row" className="max-w-28 text-left font-normal sm:max-w-64">
        <SkillName {...time} color={color} />
      </th>
      <td className="text-right">{count(time.calls)}</td>
      <td>{time.failed > 0 ? <Badge tone="bad">{count(time.failed)} failed</Badge> : null}</td>
      <td className="text-right whitespace-nowrap">
        {span(time.self)}
        <span aria-hidden className="mt-1 block h-1 rounded-full bg-hover">
          <span
            className="block h-full rounded-full"
            style={{ width: `${share * 100}%`, background: color }}
          />
        </span>
      </td>
      <td className="text-right whitespace-nowrap max-sm:hidden">{span(time.total)}</td>
      <td className="text-right whitespace-nowrap">
        <button
          type="button"
          className="cursor-pointer text-accent-strong underline-offset-2 hover:underline"
          aria-label={`The slowest ${time.capability} on ${time.agentId}: ${span(time.slowest)}`}
          onClick={() => onChoose(time.example.invocationId)}
        >
          {span(time.slowest)}
        </button>
      </td>
    </tr>
  )
}
