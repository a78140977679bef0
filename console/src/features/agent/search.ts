/** What the address of an Agent page says: the version shown and the one it is compared with. */

import { PATTERNS } from "@/api/contract.gen"
import { matching, oneOf, type RawSearch } from "@/config/urlState"

export const TABS = ["overview", "versions", "difference", "use"] as const

export interface AgentSearch {
  readonly version?: string
  readonly tab?: (typeof TABS)[number]
  /** The older side of the difference. */
  readonly from?: string
}

export function agentSearch(search: RawSearch): AgentSearch {
  return {
    version: matching(search["version"], PATTERNS.agentVersion),
    tab: oneOf(search["tab"], TABS),
    from: matching(search["from"], PATTERNS.agentVersion),
  }
}
