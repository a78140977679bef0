/** The difference between two versions, group by group; what an owner should look at twice is marked. */

import { Minus, Pencil, Plus, TriangleAlert } from "lucide-react"

import type { AgentCard } from "@/api/contract.gen"
import { Badge } from "@/components/Badge"
import { cn } from "@/components/classes"
import { plural } from "@/components/format"
import { SkillCompatibilities } from "@/domain/SkillCompatibilities"
import { versionDifference, type Change } from "@/domain/versionChanges"

interface VersionDifferenceProps {
  readonly older: AgentCard
  readonly newer: AgentCard
}

export function VersionDifference({ older, newer }: VersionDifferenceProps) {
  const groups = versionDifference(older, newer)
  const notable = groups.flatMap((group) => group.changes).filter((change) => change.notable).length
  if (groups.length === 0) {
    return (
      <p className="text-muted">
        For users, {older.version} and {newer.version} are the same.
      </p>
    )
  }
  return (
    <div className="space-y-4">
      {notable > 0 ? (
        <p className="flex items-center gap-2 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">
          <TriangleAlert aria-hidden className="size-4 shrink-0" />
          {plural(notable, "change")} to review: new permissions, or something callers may rely on.
        </p>
      ) : null}
      <SkillCompatibilities agentId={newer.agentId} from={older.version} version={newer.version} />
      {groups.map((group) => (
        <section key={group.title} aria-label={group.title}>
          <h2 className="mb-1.5 text-sm font-semibold">{group.title}</h2>
          <ul className="divide-y divide-line rounded-md border border-line bg-surface">
            {group.changes.map((change) => (
              <ChangeItem key={`${change.kind} ${change.what}`} change={change} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}

const KINDS = {
  added: { icon: Plus, look: "text-ok", label: "added" },
  removed: { icon: Minus, look: "text-bad", label: "removed" },
  changed: { icon: Pencil, look: "text-accent", label: "changed" },
} as const

function ChangeItem({ change }: { readonly change: Change }) {
  const { icon: Icon, look, label } = KINDS[change.kind]
  return (
    <li className="flex items-start gap-2.5 px-3 py-2 text-sm">
      <Icon aria-label={label} className={cn("mt-0.5 size-4 shrink-0", look)} />
      <div className="min-w-0 flex-1">
        <span className="id-text font-medium">{change.what}</span>
        <div className="break-words text-muted">
          {change.from === undefined ? null : <del className="decoration-bad/60">{change.from}</del>}
          {change.from !== undefined && change.to !== undefined ? <span aria-hidden> → </span> : null}
          {change.to === undefined ? null : <ins className="text-ink no-underline">{change.to}</ins>}
        </div>
      </div>
      {change.notable ? <Badge tone="warn">Review</Badge> : null}
    </li>
  )
}
