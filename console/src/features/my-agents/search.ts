/** What the address of My Agents says: the provider whose Agents are shown. */

import { PATTERNS } from "@/api/contract.gen"
import { matching, oneOf, type RawSearch } from "@/config/urlState"
import { NO_PROVIDER } from "@/features/my-agents/ownAgents"

export function myAgentsSearch(search: RawSearch): { provider?: string } {
  const { provider } = search
  return { provider: matching(provider, PATTERNS.safeIdentifier) ?? oneOf(provider, [NO_PROVIDER]) }
}
