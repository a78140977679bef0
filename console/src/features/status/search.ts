/** What the address of Status says: the Workspace and the range of time whose figures are shown. */

import { PATTERNS } from "@/api/contract.gen"
import { matching, oneOf, type RawSearch } from "@/config/urlState"
import { PRESETS, type Preset } from "@/domain/range"

export interface StatusSearch {
  readonly workspace?: string
  /** Absent means the last hour. */
  readonly last?: Preset
}

export const USUAL: Preset = "1h"

export function statusSearch(search: RawSearch): StatusSearch {
  const last = oneOf(search["last"], PRESETS)
  return {
    workspace: matching(search["workspace"], PATTERNS.safeIdentifier),
    last: last === USUAL ? undefined : last,
  }
}
