/** What the address of a Trace says: the Invocation and the part of the time looked at, the view and what is marked in it. */

import { PATTERNS } from "@/api/contract.gen"
import { flag, matching, oneOf, text, type RawSearch } from "@/config/urlState"
import { VIEWPORT_TEXT } from "@/features/trace/viewport"

export const VIEWS = ["waterfall", "graph", "skills"] as const

export interface TraceSearch {
  readonly invocation?: string
  readonly view?: (typeof VIEWS)[number]
  /** The Trace to compare with. */
  readonly with?: string
  /** Words to find Invocations by. */
  readonly find?: string
  /** Microseconds from the start of the Trace: "2000-3500". */
  readonly zoom?: string
  /** The critical path is marked. */
  readonly critical?: boolean
  /** Bars have the colour of their Agent unless this says otherwise. */
  readonly color?: "state"
  /** The axis reaches to the deadlines. */
  readonly deadlines?: boolean
}

export function traceSearch(search: RawSearch): TraceSearch {
  const view = oneOf(search["view"], VIEWS)
  return {
    invocation: matching(search["invocation"], PATTERNS.invocationId),
    view: view === "waterfall" ? undefined : view,
    with: matching(search["with"], PATTERNS.traceId),
    find: text(search["find"]),
    zoom: matching(search["zoom"], VIEWPORT_TEXT),
    critical: flag(search["critical"]) === true ? true : undefined,
    color: oneOf(search["color"], ["state"]),
    deadlines: flag(search["deadlines"]) === true ? true : undefined,
  }
}
