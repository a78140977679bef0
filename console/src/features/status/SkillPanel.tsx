/** The Skills that were called in a range of time, those with failures first; each leads to its Invocations. */

import { Link } from "@tanstack/react-router"

import type { Figures, FiguresCounts } from "@/api/contract.gen"
import { Badge } from "@/components/Badge"
import { Panel } from "@/components/Panel"
import { count, plural } from "@/components/format"
import { byFailures, failedOf } from "@/features/status/figures"

const SHOWN_SKILLS = 20

export function SkillPanel({ figures }: { readonly figures: Figures }) {
  const { total, leftOut } = figures
  const skills = byFailures(total.skills)
  const shown = skills.slice(0, SHOWN_SKILLS)
  const others = skills.length - shown.length + leftOut.skills
  const counted = shown.reduce((sum, skill) => sum + skill.counts.calls, 0)
  return (
    <Panel title="By Skill" description="Skills with failures first." padded={false}>
      {shown.length === 0 ? <p className="p-4 text-sm text-muted">No Skill was called.</p> : null}
      <ul className="divide-y divide-line">
        {shown.map((skill) => (
          <SkillRow key={`${skill.agentId} ${skill.capability}`} figures={figures} {...skill} />
        ))}
        {others > 0 ? (
          <li className="px-4 py-2 text-sm text-muted">
            and {plural(others, "other Skill")} with {plural(total.counts.calls - counted, "call")}
          </li>
        ) : null}
      </ul>
    </Panel>
  )
}

interface SkillRowProps {
  readonly figures: Figures
  readonly agentId: string
  readonly capability: string
  readonly counts: FiguresCounts
}

function SkillRow({ figures, agentId, capability, counts }: SkillRowProps) {
  const { workspaceId, since, until } = figures
  const failed = failedOf(counts)
  return (
    <li className="relative flex items-center gap-x-3 px-4 py-2 text-sm hover:bg-hover">
      <Link
        to="/workspaces/$workspaceId/invocations"
        params={{ workspaceId }}
        search={{ agent: agentId, capability, since, until }}
        className="min-w-0 flex-1 after:absolute after:inset-0 hover:text-accent-strong"
      >
        <span className="block truncate font-medium">{capability}</span>
        <span className="block truncate font-mono text-xs text-muted">{agentId}</span>
      </Link>
      <span className="text-right whitespace-nowrap text-muted tabular-nums">
        {plural(counts.calls, "call")}
      </span>
      <span className="flex w-24 shrink-0 justify-end">
        {failed > 0 ? <Badge tone="bad">{count(failed)} failed</Badge> : <Badge tone="ok">no failures</Badge>}
      </span>
    </li>
  )
}
