/** The Skills and the failures of the last hour; each links to its Invocations. */

import { Link } from "@tanstack/react-router"

import { recoveryOf } from "@/api/recovery"
import { Badge } from "@/components/Badge"
import { Panel } from "@/components/Panel"
import { duration, plural } from "@/components/format"
import type { FailureShare, Figures, SkillShare } from "@/features/status/figures"

const SHOWN_SKILLS = 20

interface FailurePanelProps {
  readonly workspaceId: string
  readonly figures: Figures
  readonly since: string
}

export function FailurePanel({ workspaceId, figures, since }: FailurePanelProps) {
  if (figures.skills.length === 0) return null
  return (
    <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-2">
      <Panel title="By Skill" description="Skills with failures first." padded={false}>
        <ul className="divide-y divide-line">
          {figures.skills.slice(0, SHOWN_SKILLS).map((skill) => (
            <SkillRow
              key={`${skill.agentId} ${skill.capability}`}
              workspaceId={workspaceId}
              skill={skill}
              since={since}
            />
          ))}
        </ul>
      </Panel>
      <Panel title="Failures" description="By code and reason, with what to do about each.">
        {figures.failures.length === 0 ? (
          <p className="text-sm text-muted">No Invocation failed or timed out.</p>
        ) : (
          <ul className="space-y-3 text-sm">
            {figures.failures.map((failure) => (
              <FailureItem key={`${failure.code} ${failure.reason ?? ""}`} failure={failure} />
            ))}
          </ul>
        )}
      </Panel>
    </div>
  )
}

function FailureItem({ failure: { code, reason, times } }: { readonly failure: FailureShare }) {
  const recovery = recoveryOf({ code, reason })
  return (
    <li>
      <div className="flex flex-wrap items-center gap-2">
        <code className="id-text font-medium">{code}</code>
        {reason ? <code className="id-text">{reason}</code> : null}
        <Badge tone="bad">{plural(times, "time")}</Badge>
      </div>
      {recovery.sentence ? <p>{recovery.sentence}</p> : null}
      <p className="text-muted">{recovery.action}</p>
    </li>
  )
}

interface SkillRowProps {
  readonly workspaceId: string
  readonly skill: SkillShare
  readonly since: string
}

function SkillRow({ workspaceId, skill, since }: SkillRowProps) {
  const { agentId, capability, calls, failed, p95 } = skill
  return (
    <li className="relative flex flex-wrap items-center gap-x-4 gap-y-0.5 px-4 py-2 text-sm hover:bg-hover">
      <Link
        to="/workspaces/$workspaceId/invocations"
        params={{ workspaceId }}
        search={{ agent: agentId, capability, since }}
        className="min-w-0 flex-1 basis-36 truncate after:absolute after:inset-0 hover:text-accent-strong"
      >
        <span className="font-medium">{capability}</span>{" "}
        <span className="id-text text-muted">{agentId}</span>
      </Link>
      <span className="text-muted tabular-nums sm:w-14 sm:text-right">{plural(calls, "call")}</span>
      <span className="text-muted tabular-nums sm:w-22 sm:text-right">
        p95 {p95 === undefined ? "–" : duration(p95)}
      </span>
      <span className="flex sm:w-22 sm:justify-end">
        {failed > 0 ? <Badge tone="bad">{failed} failed</Badge> : <Badge tone="ok">no failures</Badge>}
      </span>
    </li>
  )
}
