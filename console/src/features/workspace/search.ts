/** What the address of a Workspace says: whether its Installations or its history are shown, and which one is meant. */

import { PATTERNS } from "@/api/contract.gen"
import { matching, oneOf, type RawSearch } from "@/config/urlState"

export const VIEWS = ["current", "history"] as const

export interface WorkspaceSearch {
  readonly view?: (typeof VIEWS)[number]
  /** The Agent whose Installation is marked and opened. */
  readonly agent?: string
}

export function workspaceSearch(search: RawSearch): WorkspaceSearch {
  return {
    view: oneOf(search["view"], VIEWS),
    agent: matching(search["agent"], PATTERNS.safeIdentifier),
  }
}
