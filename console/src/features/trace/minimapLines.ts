/** A whole Trace in few lines: each line stands for one Invocation or, in a long Trace, for several next to each other. */

import { isFailure } from "@/domain/invocationState"
import type { Branch } from "@/features/trace/lineage"
import { barOf, type Axis } from "@/features/trace/timeAxis"

export interface MinimapLine {
  /** Fractions of the axis. */
  readonly left: number
  readonly width: number
  readonly failed: boolean
  /** The Agent of the first one. */
  readonly agentId: string
}

export function minimapLines(
  rows: ReadonlyArray<Branch>,
  axis: Axis,
  now: number,
  most: number,
): ReadonlyArray<MinimapLine> {
  const each = Math.max(1, Math.ceil(rows.length / most))
  const lines: MinimapLine[] = []
  for (let start = 0; start < rows.length; start += each) {
    const group = rows.slice(start, start + each)
    const bars = group.map(({ record }) => barOf(record, axis, now))
    const left = Math.min(...bars.map((bar) => bar.left))
    const right = Math.max(...bars.map((bar) => bar.left + bar.width))
    lines.push({
      left,
      width: right - left,
      failed: bars.some((bar) => isFailure(bar.state)),
      agentId: group[0]?.record.targetAgentId ?? "",
    })
  }
  return lines
}
