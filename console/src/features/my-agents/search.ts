/** What the address of My Agents says: the provider. */

import { PATTERNS } from "@/api/contract.gen"
import { matching, type RawSearch } from "@/config/urlState"

export function myAgentsSearch(search: RawSearch): { provider?: string } {
  return { provider: matching(search["provider"], PATTERNS.safeIdentifier) }
}
