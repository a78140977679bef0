/** What the address of Status says: the Workspace whose numbers are shown. */

import { PATTERNS } from "@/api/contract.gen"
import { matching, type RawSearch } from "@/config/urlState"

export function statusSearch(search: RawSearch): { workspace?: string } {
  return { workspace: matching(search["workspace"], PATTERNS.safeIdentifier) }
}
