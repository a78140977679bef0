/** A choice of permissions: what each is for, which Skills it makes usable, and what choosing a Skill accepts. */

import type { AgentCardPermission, AgentCardSkill } from "@/api/contract.gen"

export interface Permitted {
  readonly permissions: ReadonlyArray<AgentCardPermission>
  readonly skills: ReadonlyArray<Pick<AgentCardSkill, "id" | "name" | "requiredPermissions">>
}

type Skill = Permitted["skills"][number]
type Accepted = ReadonlySet<string>

export function isUsable({ requiredPermissions }: Skill, accepted: Accepted): boolean {
  return requiredPermissions.every((id) => accepted.has(id))
}

/** The Skills that need a permission; none when it is optional. */
export function needing({ skills }: Permitted, permission: string): ReadonlyArray<Skill> {
  return skills.filter(({ requiredPermissions }) => requiredPermissions.includes(permission))
}

export function everyPermission({ permissions }: Permitted): Accepted {
  return new Set(permissions.map(({ id }) => id))
}

export function withPermission(accepted: Accepted, id: string, on: boolean): Accepted {
  return on ? new Set([...accepted, id]) : new Set([...accepted].filter((each) => each !== id))
}

/** Choosing a Skill accepts all it needs; leaving it out takes back what no other usable Skill needs, else all of it. */
export function withSkill(agent: Permitted, accepted: Accepted, skill: Skill, on: boolean): Accepted {
  if (on) return new Set([...accepted, ...skill.requiredPermissions])
  const kept = new Set(
    agent.skills
      .filter((each) => each !== skill && isUsable(each, accepted))
      .flatMap(({ requiredPermissions }) => requiredPermissions),
  )
  const mine = new Set(skill.requiredPermissions)
  const left = new Set([...accepted].filter((id) => !mine.has(id) || kept.has(id)))
  return left.size < accepted.size ? left : new Set([...accepted].filter((id) => !mine.has(id)))
}

export type Outlook = "all" | "some" | "none"

/** How many Skills can be used with a choice. */
export function outlook({ skills }: Permitted, accepted: Accepted): Outlook {
  const usable = skills.filter((skill) => isUsable(skill, accepted)).length
  return usable === skills.length ? "all" : usable === 0 ? "none" : "some"
}
