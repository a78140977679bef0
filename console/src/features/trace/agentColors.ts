/** A colour for each Agent of a Trace, the same in waterfall, minimap and graph; a name always stands beside it. */

import type { InvocationRecord } from "@/api/contract.gen"

/** Hues far from each other, neighbours in the list most of all, and none near the red of failures. */
const HUES = [262, 150, 310, 75, 205, 340, 115, 285, 180, 235, 95, 325]

/** In the order the Agents first appear. */
export function agentColors(records: ReadonlyArray<InvocationRecord>): ReadonlyMap<string, string> {
  const colors = new Map<string, string>()
  for (const { targetAgentId } of records) {
    if (!colors.has(targetAgentId)) colors.set(targetAgentId, colorAt(colors.size))
  }
  return colors
}

/** After the last hue they begin again, stronger or paler: 3 x 12 colours before one repeats. */
function colorAt(index: number): string {
  const hue = HUES[index % HUES.length] ?? 0
  const round = Math.floor(index / HUES.length) % 3
  const [light, dark] = [
    [0.58, 0.46, 0.66],
    [0.72, 0.84, 0.62],
  ].map((steps) => steps[round] ?? 0.6)
  return `light-dark(oklch(${light} 0.13 ${hue}), oklch(${dark} 0.12 ${hue}))`
}
