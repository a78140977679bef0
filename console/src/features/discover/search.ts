/** What the address of Discover says: the search text, the filters and the order. */

import { PATTERNS } from "@/api/contract.gen"
import { flag, matching, oneOf, text, type RawSearch } from "@/config/urlState"

export interface DiscoverSearch {
  readonly query?: string
  readonly capability?: string
  readonly owner?: string
  /** Absent means true: the newest version of each Agent. */
  readonly latest?: boolean
  readonly installable?: boolean
  /** Absent: the best match first when there is a text, else the newest. */
  readonly order?: "newest"
}

export function discoverSearch(search: RawSearch): DiscoverSearch {
  return {
    query: text(search["query"]),
    capability: matching(search["capability"], PATTERNS.safeIdentifier),
    owner: matching(search["owner"], PATTERNS.safeIdentifier),
    latest: flag(search["latest"]) === false ? false : undefined,
    installable: flag(search["installable"]) === true ? true : undefined,
    order: oneOf(search["order"], ["newest"]),
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
