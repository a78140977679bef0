/** What the address of Publish says: whose, which Agent and version, so that a reload or another person can go on. */

import { PATTERNS } from "@/api/contract.gen"
import { matching, type RawSearch } from "@/config/urlState"

export interface PublishSearch {
  readonly provider?: string
  readonly agent?: string
  /** The version on its way; absent while its Card is being written. */
  readonly version?: string
  /** The version of the Agent that a new Card starts from. */
  readonly from?: string
}

export function publishSearch(search: RawSearch): PublishSearch {
  return {
    provider: matching(search["provider"], PATTERNS.safeIdentifier),
    agent: matching(search["agent"], PATTERNS.safeIdentifier),
    version: matching(search["version"], PATTERNS.agentVersion),
    from: matching(search["from"], PATTERNS.agentVersion),
  }
}
