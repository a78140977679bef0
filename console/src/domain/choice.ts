/** Which Agent and Skill are called: what the address asks for, as far as the Workspace may use it. */

import type { AgentCard, AgentCardSkill, Installation } from "@/api/contract.gen"

export type AgentChoice<Kind extends Installation = Installation> =
  | { readonly kind: "chosen"; readonly installation: Kind }
  /** Nothing in the Workspace can be invoked. */
  | { readonly kind: "nothing" }
  /** The Agent asked for cannot be invoked; `disabled` when it is installed all the same. */
  | { readonly kind: "unavailable"; readonly agentId: string; readonly disabled: boolean }

export type SkillChoice =
  | { readonly kind: "chosen"; readonly skill: AgentCardSkill }
  | { readonly kind: "unknown"; readonly capability: string }
  | { readonly kind: "forbidden"; readonly skill: AgentCardSkill; readonly missing: ReadonlyArray<string> }

/** Only what is enabled can be invoked; by Agent id. */
export function offered<Kind extends Installation>(installations: ReadonlyArray<Kind>): ReadonlyArray<Kind> {
  return installations
    .filter(({ status }) => status === "enabled")
    .sort((one, other) => (one.agentId < other.agentId ? -1 : 1))
}

export function agentChoice<Kind extends Installation>(
  installations: ReadonlyArray<Kind>,
  requested: string | undefined,
): AgentChoice<Kind> {
  const enabled = offered(installations)
  const found = requested === undefined ? enabled[0] : enabled.find(({ agentId }) => agentId === requested)
  if (found !== undefined) return { kind: "chosen", installation: found }
  if (requested === undefined) return { kind: "nothing" }
  const disabled = installations.some(({ agentId, status }) => agentId === requested && status === "disabled")
  return { kind: "unavailable", agentId: requested, disabled }
}

/** Permissions a Skill needs and the Workspace's owner has not accepted. */
export function missingPermissions(
  skill: AgentCardSkill,
  { acceptedPermissions }: Pick<Installation, "acceptedPermissions">,
): ReadonlyArray<string> {
  return skill.requiredPermissions.filter((id) => !acceptedPermissions.includes(id))
}

export function skillChoice(
  card: AgentCard,
  installation: Installation,
  requested: string | undefined,
): SkillChoice {
  const usable = card.skills.find((skill) => missingPermissions(skill, installation).length === 0)
  const skill =
    requested === undefined ? (usable ?? card.skills[0]) : card.skills.find(({ id }) => id === requested)
  if (skill === undefined) return { kind: "unknown", capability: requested ?? "" }
  const missing = missingPermissions(skill, installation)
  return missing.length === 0 ? { kind: "chosen", skill } : { kind: "forbidden", skill, missing }
}
