/** What the address of a Workspace says: whether its Installations or its history are shown. */

import { oneOf, type RawSearch } from "@/config/urlState"

export const VIEWS = ["current", "history"] as const

export interface WorkspaceSearch {
  readonly view?: (typeof VIEWS)[number]
}

export function workspaceSearch(search: RawSearch): WorkspaceSearch {
  return { view: oneOf(search["view"], VIEWS) }
}
