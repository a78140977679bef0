/** A Skill and its Agent with the colour that the Agent has in this Trace. */

import type { SkillTime } from "@/features/trace/timing"

type SkillNameProps = Pick<SkillTime, "agentId" | "version" | "capability"> & {
  readonly color: string | undefined
}

export function SkillName({ agentId, version, capability, color }: SkillNameProps) {
  return (
    <span className="flex min-w-0 items-center gap-2">
      <span aria-hidden className="h-6 w-1 shrink-0 rounded-full" style={{ background: color }} />
      <span className="min-w-0">
        <span className="block truncate font-medium">{capability}</span>
        <span className="block truncate font-mono text-xs text-muted" title={`${agentId} ${version}`}>
          {agentId} {version}
        </span>
      </span>
    </span>
  )
}
