import { describe, expect, it } from "vitest"

import { lineageTree, rowsInView } from "@/features/trace/lineage"
import { minimapLines } from "@/features/trace/minimapLines"
import { aRecord, MOMENT } from "@/features/trace/records.fixture"

const NOW = MOMENT + 3_600_000
const AXIS = { start: MOMENT * 1000, end: (MOMENT + 100) * 1000 }

function rowsOf(count: number) {
  const records = Array.from({ length: count }, (_, index) =>
    aRecord(`inv_${index}`, {
      createdAt: index * 10,
      latencyMs: 10,
      agent: `acme:agent-${index}`,
      status: index === 3 ? "failed" : "succeeded",
    }),
  )
  return rowsInView(lineageTree(records), new Set())
}

describe("the minimap", () => {
  it("has a line for each Invocation of a short Trace", () => {
    const lines = minimapLines(rowsOf(4), AXIS, NOW, 100)
    expect(lines.map(({ left, failed }) => [left, failed])).toEqual([
      [0, false],
      [0.1, false],
      [0.2, false],
      [0.3, true],
    ])
  })

  it("joins neighbours of a long one, and a line with one failure in it is a failure", () => {
    const lines = minimapLines(rowsOf(10), AXIS, NOW, 5)
    expect(lines).toHaveLength(5)
    expect(lines[1]).toMatchObject({ left: 0.2, failed: true, agentId: "acme:agent-2" })
    expect(lines[1]?.width).toBeCloseTo(0.2)
    expect(lines[0]?.failed).toBe(false)
  })
})
