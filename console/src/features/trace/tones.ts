/** The colour of each state in bars; a label or name always says the same. */

import type { InvocationState } from "@/domain/invocationState"

export const STATE_COLORS: Readonly<Record<InvocationState, string>> = {
  pending: "var(--control)",
  routing: "var(--accent)",
  running: "var(--accent)",
  succeeded: "var(--ok)",
  failed: "var(--bad)",
  canceled: "var(--note)",
  timed_out: "var(--warn)",
  interrupted: "var(--bad)",
}
