/** Which version an Agent page shows: the requested one, else the newest installable, published or registered one. */

import type { CatalogEntry } from "@/api/contract.gen"

export function shownVersion(
  versions: ReadonlyArray<CatalogEntry>,
  requested: string | undefined,
): CatalogEntry {
  const found =
    versions.find((entry) => entry.version === requested) ??
    versions.find((entry) => entry.installable) ??
    versions.find((entry) => entry.publicationStatus === "published") ??
    versions[0]
  if (found === undefined) throw new Error("an Agent without a visible version is never answered")
  return found
}

/** What a version is compared with when nobody said: the one registered before it, else the one after it. */
export function comparedVersion(
  versions: ReadonlyArray<CatalogEntry>,
  shown: string,
  requested: string | undefined,
): CatalogEntry | undefined {
  const at = versions.findIndex((entry) => entry.version === shown)
  return (
    versions.find((entry) => entry.version === requested && entry.version !== shown) ??
    versions[at + 1] ??
    (at > 0 ? versions[at - 1] : undefined)
  )
}
