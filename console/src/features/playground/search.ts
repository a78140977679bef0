/** What the address of the Playground says: the Agent and the Skill that are tried, and how. */

import { PATTERNS } from "@/api/contract.gen"
import { matching, oneOf, type RawSearch } from "@/config/urlState"

export const MODES = ["stream", "json"] as const
export const VIEWS = ["form", "json"] as const

export interface PlaygroundSearch {
  readonly agent?: string
  readonly capability?: string
  /** Absent: a stream when the Agent offers it. */
  readonly mode?: (typeof MODES)[number]
  /** How the input is edited; absent: as a form. */
  readonly view?: (typeof VIEWS)[number]
}

export function playgroundSearch(search: RawSearch): PlaygroundSearch {
  return {
    agent: matching(search["agent"], PATTERNS.safeIdentifier),
    capability: matching(search["capability"], PATTERNS.safeIdentifier),
    mode: oneOf(search["mode"], MODES),
    view: oneOf(search["view"], VIEWS),
  }
}
