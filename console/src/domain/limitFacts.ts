/** The limits of a version as facts that people read. */

import type { AgentCardLimits } from "@/api/contract.gen"
import type { Fact } from "@/components/Facts"
import { bytes, duration } from "@/components/format"

export function limitFacts(limits: AgentCardLimits): ReadonlyArray<Fact> {
  return [
    ["Time limit", duration(limits.timeoutMs)],
    ["Largest input", bytes(limits.maxInputBytes)],
    ["Largest output", bytes(limits.maxOutputBytes)],
    ["Streaming", limits.streaming ? "yes" : "no"],
  ]
}
