/** What two Traces did, Skill by Skill: calls, failures and self time of each, and the difference. */

import { useMemo } from "react"

import type { InvocationRecord } from "@/api/contract.gen"
import { cn } from "@/components/classes"
import { count } from "@/components/format"
import { span } from "@/components/instants"
import { lineageTree } from "@/features/trace/lineage"
import { SkillName } from "@/features/trace/SkillName"
import { skillPairs, skillTimes, type SkillTime } from "@/features/trace/timing"

interface CompareTableProps {
  readonly left: ReadonlyArray<InvocationRecord>
  readonly right: ReadonlyArray<InvocationRecord>
  readonly colors: ReadonlyMap<string, string>
  readonly now: number
}

export function CompareTable({ left, right, colors, now }: CompareTableProps) {
  const pairs = useMemo(
    () => skillPairs(skillTimes(lineageTree(left), now), skillTimes(lineageTree(right), now)),
    [left, right, now],
  )
  return (
    <table className="w-full text-sm tabular-nums">
      <caption className="sr-only">Skills of both Traces</caption>
      <thead className="text-left text-xs text-muted">
        <tr className="[&>th]:px-3 [&>th]:py-2 [&>th]:font-medium">
          <th scope="col">Skill</th>
          <th scope="col" className="text-right">
            First
          </th>
          <th scope="col" className="text-right">
            Second
          </th>
          <th scope="col" className="text-right">
            Difference
          </th>
        </tr>
      </thead>
      <tbody>
        {pairs.map(({ key, left: first, right: second, more }) => {
          const known = first ?? second
          return known === undefined ? null : (
            <tr
              key={key}
              className="border-t border-line [&>td]:px-2 [&>td]:py-2 sm:[&>td]:px-3 [&>th]:px-3 [&>th]:py-2"
            >
              <th scope="row" className="max-w-28 text-left font-normal sm:max-w-64">
                <SkillName {...known} color={colors.get(known.agentId)} />
              </th>
              <Numbers time={first} />
              <Numbers time={second} />
              <td className={cn("text-right whitespace-nowrap", more > 0 && "font-medium text-bad")}>
                {more === 0 ? "–" : `${more > 0 ? "+" : "−"}${span(Math.abs(more))}`}
              </td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

function Numbers({ time }: { readonly time: SkillTime | undefined }) {
  if (time === undefined) return <td className="text-right text-muted">not called</td>
  return (
    <td className="text-right">
      <span className="block whitespace-nowrap">{span(time.self)}</span>
      <span className="block text-xs whitespace-nowrap text-muted">
        {count(time.calls)}×
        {time.failed > 0 ? <span className="font-medium text-bad"> {count(time.failed)} failed</span> : null}
      </span>
    </td>
  )
}
