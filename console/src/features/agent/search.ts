/** What the address of an Agent page says: the version shown, the one it is compared with, and a dialog. */

import { PATTERNS } from "@/api/contract.gen"
import { matching, oneOf, type RawSearch } from "@/config/urlState"

export const TABS = ["overview", "versions", "difference", "use"] as const

export const DIALOGS = ["install", "upgrade"] as const

export interface AgentSearch {
  readonly version?: string
  readonly tab?: (typeof TABS)[number]
  /** The older side of the difference. */
  readonly from?: string
  /** The dialog that a link leads to. */
  readonly open?: (typeof DIALOGS)[number]
}

export function agentSearch(search: RawSearch): AgentSearch {
  return {
    version: matching(search["version"], PATTERNS.agentVersion),
    tab: oneOf(search["tab"], TABS),
    from: matching(search["from"], PATTERNS.agentVersion),
    open: oneOf(search["open"], DIALOGS),
  }
}
