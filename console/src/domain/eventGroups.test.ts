import { describe, expect, it } from "vitest"

import type { InvocationEvent } from "@/api/contract.gen"
import { eventGroups } from "@/domain/eventGroups"

const event = (type: InvocationEvent["type"], second: number, chunkCount?: number) =>
  ({
    type,
    occurredAt: `2026-03-02T10:00:0${second}.000250Z`,
    chunkCount,
    chunkBytes: chunkCount === undefined ? undefined : chunkCount * 10,
  }) as InvocationEvent

describe("the events of an Invocation", () => {
  it("are one entry each, timed from the first", () => {
    const groups = eventGroups([event("created", 0), event("routing", 0), event("started", 1)])
    expect(groups.map((group) => [group.first.type, group.after])).toEqual([
      ["created", 0],
      ["routing", 0],
      ["started", 1_000_000],
    ])
  })

  it("count progress in a row together", () => {
    const groups = eventGroups([
      event("started", 0),
      event("stream", 1, 3),
      event("stream", 2, 4),
      event("failed", 3),
    ])
    expect(groups).toHaveLength(3)
    expect(groups[1]).toMatchObject({ chunks: 7, bytes: 70, after: 2_000_000 })
    expect(groups[1]?.events).toHaveLength(2)
  })

  it("are nothing when there are none", () => {
    expect(eventGroups([])).toEqual([])
  })
})
