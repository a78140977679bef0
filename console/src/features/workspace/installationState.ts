/** Whether a pinned version can still be invoked, and which of its Skills, as far as the Catalog tells. */

import type { AgentCardSkill, CatalogEntry, ErrorCode, Installation } from "@/api/contract.gen"

export interface InstallationState {
  /** Why every invocation is refused, whatever the Installation's own state. */
  readonly refusal?: ErrorCode
  /** The pinned version is not shown to this caller any more, so its Card cannot be read. */
  readonly isHidden: boolean
  readonly unusable: ReadonlyArray<UnusableSkill>
}

export interface UnusableSkill {
  readonly skill: AgentCardSkill
  readonly missing: ReadonlyArray<string>
}

export function installationStateOf(
  installation: Installation,
  versions: ReadonlyArray<CatalogEntry>,
): InstallationState {
  const entry = versions.find(({ version }) => version === installation.installedVersion)
  // A published version is shown to everybody: one that is not shown was disabled by its provider.
  if (entry === undefined) return { refusal: "AGENT_DISABLED", isHidden: true, unusable: [] }
  return { refusal: refusalOf(entry), isHidden: false, unusable: unusableSkills(installation, entry) }
}

function refusalOf({ release, publicationStatus }: CatalogEntry): ErrorCode | undefined {
  if (release?.state === "suspended") return "AGENT_RELEASE_SUSPENDED"
  if (release?.state === "revoked") return "AGENT_RELEASE_REVOKED"
  return publicationStatus === "disabled" ? "AGENT_DISABLED" : undefined
}

function unusableSkills({ acceptedPermissions }: Installation, { card }: CatalogEntry): UnusableSkill[] {
  return card.skills.flatMap((skill) => {
    const missing = skill.requiredPermissions.filter((id) => !acceptedPermissions.includes(id))
    return missing.length === 0 ? [] : [{ skill, missing }]
  })
}
