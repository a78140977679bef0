/** What the address of the Connect page says: the Agent and the Skill that are called, and from what. */

import { PATTERNS } from "@/api/contract.gen"
import { matching, type RawSearch } from "@/config/urlState"

export interface ConnectSearch {
  readonly agent?: string
  readonly capability?: string
  /** The name of a snippet. */
  readonly from?: string
}

export function connectSearch(search: RawSearch): ConnectSearch {
  return {
    agent: matching(search["agent"], PATTERNS.safeIdentifier),
    capability: matching(search["capability"], PATTERNS.safeIdentifier),
    from: matching(search["from"], PATTERNS.safeIdentifier),
  }
}
