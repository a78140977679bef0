/** What the address of a Trace says: the Invocation looked at, the view, and whether the axis reaches to the deadlines. */

import { PATTERNS } from "@/api/contract.gen"
import { flag, matching, oneOf, type RawSearch } from "@/config/urlState"

export const VIEWS = ["waterfall", "graph"] as const

export interface TraceSearch {
  readonly invocation?: string
  readonly view?: (typeof VIEWS)[number]
  readonly deadlines?: boolean
}

export function traceSearch(search: RawSearch): TraceSearch {
  const view = oneOf(search["view"], VIEWS)
  return {
    invocation: matching(search["invocation"], PATTERNS.invocationId),
    view: view === "waterfall" ? undefined : view,
    deadlines: flag(search["deadlines"]) === true ? true : undefined,
  }
}
