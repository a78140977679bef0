/** The permissions an owner accepts, by Skill or one by one: what each is for, and what this choice makes usable. */

import { CircleCheck, TriangleAlert } from "lucide-react"

import { Badge } from "@/components/Badge"
import { Button } from "@/components/Button"
import { Checkbox } from "@/components/Field"
import { cn } from "@/components/classes"
import {
  everyPermission,
  isUsable,
  needing,
  outlook,
  withPermission,
  withSkill,
  type Permitted,
} from "@/domain/consent"

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
  const all = everyPermission(agent)
  const isAll = all.size === accepted.size
  return (
    <div className="space-y-4">
      <SkillChoice agent={agent} accepted={accepted} onChange={onChange} />
      <fieldset>
        <legend className="sr-only">Permissions you accept</legend>
        <div className="mb-2 flex items-center justify-between gap-3">
          <p aria-hidden className="text-sm font-semibold">
            Permissions you accept
          </p>
          <Button size="small" tone="quiet" onClick={() => onChange(isAll ? new Set() : all)}>
            {isAll ? "Accept none" : "Accept all"}
          </Button>
        </div>
        <div className="divide-y divide-line rounded-md border border-line">
          {agent.permissions.map((permission) => (
            <Checkbox
              key={permission.id}
              className="px-3 py-2.5"
              label={
                <span className="inline-flex flex-wrap items-center gap-x-2">
                  <span className="id-text">{permission.id}</span>
                  {marks?.has(permission.id) ? <Badge tone="warn">{marks.get(permission.id)}</Badge> : null}
                </span>
              }
              description={
                <>
                  <span className="block text-ink">{permission.description}</span>
                  <Purpose agent={agent} permission={permission.id} />
                </>
              }
              checked={accepted.has(permission.id)}
              onChange={(event) => onChange(withPermission(accepted, permission.id, event.target.checked))}
            />
          ))}
        </div>
      </fieldset>
      <Outcome agent={agent} accepted={accepted} />
    </div>
  )
}

/** Each Skill with one box for all it needs. */
function SkillChoice({ agent, accepted, onChange }: Omit<PermissionChoiceProps, "marks">) {
  return (
    <fieldset>
      <legend className="mb-2 text-sm font-semibold">What it should do for you</legend>
      <div className="grid gap-x-4 gap-y-2 sm:grid-cols-2">
        {agent.skills.map((skill) => (
          <Checkbox
            key={skill.id}
            label={skill.name}
            description={
              skill.requiredPermissions.length === 0 ? (
                "needs no permission"
              ) : (
                <>
                  needs <span className="id-text">{skill.requiredPermissions.join(", ")}</span>
                </>
              )
            }
            disabled={skill.requiredPermissions.length === 0}
            checked={isUsable(skill, accepted)}
            onChange={(event) => onChange(withSkill(agent, accepted, skill, event.target.checked))}
          />
        ))}
      </div>
    </fieldset>
  )
}

function Purpose({ agent, permission }: { readonly agent: Permitted; readonly permission: string }) {
  const skills = needing(agent, permission)
  if (skills.length === 0) return <span className="block">Optional: no Skill needs it.</span>
  const every = skills.length === agent.skills.length && skills.length > 1
  return (
    <span className="block">
      {every ? "Every Skill needs it." : `Needed by ${skills.map(({ name }) => name).join(", ")}.`}
    </span>
  )
}

function Outcome({ agent, accepted }: Pick<PermissionChoiceProps, "agent" | "accepted">) {
  const state = outlook(agent, accepted)
  const unusable = agent.skills.filter((skill) => !isUsable(skill, accepted)).map(({ name }) => name)
  return (
    <p
      role="status"
      className={cn(
        "flex gap-2.5 rounded-md px-3 py-2 text-sm [&>svg]:mt-0.5 [&>svg]:size-4 [&>svg]:shrink-0",
        state === "none" ? "bg-warn-soft text-warn" : "bg-sunken text-muted",
      )}
    >
      {state === "all" ? <CircleCheck aria-hidden className="text-ok" /> : <TriangleAlert aria-hidden />}
      <span className="min-w-0">
        {state === "all"
          ? "You can use every Skill with this choice."
          : state === "none"
            ? "You cannot use any Skill with this choice. Choose a Skill or accept its permissions first."
            : `You cannot use these Skills with this choice: ${unusable.join(", ")}. You can accept more later.`}
      </span>
    </p>
  )
}
