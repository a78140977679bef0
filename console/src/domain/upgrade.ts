/** Where an Installation could go: the versions to choose from, and the one that is suggested. */

import type { CatalogEntry, Installation } from "@/api/contract.gen"
import { otherVersions } from "@/domain/versions"

export interface PlannedUpgrade {
  readonly installation: Installation
  /** The pinned version; absent when its provider no longer shows it. */
  readonly installed: CatalogEntry | undefined
  readonly choices: ReadonlyArray<CatalogEntry>
  readonly suggested: CatalogEntry | undefined
}

export function plannedUpgrade(
  installation: Installation,
  versions: ReadonlyArray<CatalogEntry>,
): PlannedUpgrade {
  const installed = versions.find(({ version }) => version === installation.installedVersion)
  const others = otherVersions(versions, installation.installedVersion)
  // The same version can be chosen again, with other permissions.
  const choices = installed?.installable === true ? [...others.all, installed] : others.all
  return { installation, installed, choices, suggested: others.newer ?? installed }
}
