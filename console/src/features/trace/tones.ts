/** The colour of each state in bars, edges and marks; a label or name always says the same. */

import type { InvocationState } from "@/domain/invocationState"

export const BAR_COLORS: Readonly<Record<InvocationState, string>> = {
  pending: "bg-control",
  routing: "bg-accent",
  running: "bg-accent",
  succeeded: "bg-ok",
  failed: "bg-bad",
  canceled: "bg-note",
  timed_out: "bg-warn",
  interrupted: "bg-bad",
}
