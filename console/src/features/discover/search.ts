/** What the address of Discover says: the search text and the filters. */

import { PATTERNS } from "@/api/contract.gen"
import { flag, matching, text, type RawSearch } from "@/config/urlState"

export interface DiscoverSearch {
  readonly query?: string
  readonly capability?: string
  readonly owner?: string
  /** Absent means true: the newest version of each Agent. */
  readonly latest?: boolean
  readonly installable?: boolean
}

export function discoverSearch(search: RawSearch): DiscoverSearch {
  return {
    query: text(search["query"]),
    capability: matching(search["capability"], PATTERNS.safeIdentifier),
    owner: matching(search["owner"], PATTERNS.safeIdentifier),
    latest: flag(search["latest"]) === false ? false : undefined,
    installable: flag(search["installable"]) === true ? true : undefined,
  }
}

export function isFiltered(search: DiscoverSearch): boolean {
  return (
    search.query !== undefined ||
    search.capability !== undefined ||
    search.owner !== undefined ||
    search.installable === true
  )
}
