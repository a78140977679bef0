/** The permissions an owner accepts, one by one, and what cannot be used without the others. */

import type { AgentCardPermission, AgentCardSkill } from "@/api/contract.gen"
import { Badge } from "@/components/Badge"
import { Checkbox } from "@/components/Field"

export interface Permitted {
  readonly permissions: ReadonlyArray<AgentCardPermission>
  readonly skills: ReadonlyArray<Pick<AgentCardSkill, "id" | "requiredPermissions">>
}

interface PermissionChoiceProps {
  readonly agent: Permitted
  readonly accepted: ReadonlySet<string>
  readonly onChange: (accepted: ReadonlySet<string>) => void
  /** Words beside a permission: "new". */
  readonly marks?: ReadonlyMap<string, string>
}

export function PermissionChoice({ agent, accepted, onChange, marks }: PermissionChoiceProps) {
  if (agent.permissions.length === 0)
    return <p className="text-sm text-muted">This Agent asks for no permission.</p>
  const toggle = (id: string, on: boolean) => {
    const next = new Set(accepted)
    if (on) next.add(id)
    else next.delete(id)
    onChange(next)
  }
  const unusable = agent.skills.filter((skill) => skill.requiredPermissions.some((id) => !accepted.has(id)))
  return (
    <fieldset className="space-y-3">
      <legend className="mb-2 text-sm font-semibold">Permissions you accept</legend>
      {agent.permissions.map((permission) => (
        <Checkbox
          key={permission.id}
          label={
            <span className="inline-flex flex-wrap items-center gap-x-2">
              <span className="id-text">{permission.id}</span>
              {marks?.has(permission.id) ? <Badge tone="warn">{marks.get(permission.id)}</Badge> : null}
            </span>
          }
          description={permission.description}
          checked={accepted.has(permission.id)}
          onChange={(event) => toggle(permission.id, event.target.checked)}
        />
      ))}
      {unusable.length > 0 ? (
        <p role="status" className="rounded-md bg-sunken px-3 py-2 text-sm text-muted">
          You cannot use these Skills with this choice: {unusable.map((skill) => skill.id).join(", ")}. You
          can accept more later, on the page of the Workspace.
        </p>
      ) : null}
    </fieldset>
  )
}
