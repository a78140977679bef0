import { describe, expect, it } from "vitest"

import type { InvocationRecord } from "@/api/contract.gen"
import { figuresOf, MINUTES, percentile } from "@/features/status/figures"

const NOW = Date.parse("2026-03-02T10:30:30Z")

const record = (minutesAgo: number, fields: Partial<InvocationRecord> = {}) =>
  ({
    targetAgentId: "acme:agent",
    capability: "work",
    status: "succeeded",
    latencyMs: 10,
    createdAt: new Date(NOW - minutesAgo * 60_000).toISOString(),
    deadlineAt: new Date(NOW - minutesAgo * 60_000 + 30_000).toISOString(),
    ...fields,
  }) as InvocationRecord

describe("percentiles", () => {
  it.each([
    [0.5, 5],
    [0.9, 9],
    [0.95, 10],
    [0.99, 10],
    [0, 1],
  ])("the share %d of one to ten is %d", (share, value) => {
    expect(percentile([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], share)).toBe(value)
  })

  it("of nothing are nothing", () => {
    expect(percentile([], 0.5)).toBeUndefined()
  })
})

describe("the numbers of an hour", () => {
  it("count each Invocation in its minute and leave older ones out", () => {
    const { minutes, calls } = figuresOf([record(0), record(0.2), record(1), record(59), record(61)], NOW)
    expect(minutes).toHaveLength(MINUTES)
    expect(minutes.at(-1)?.succeeded).toBe(2)
    expect(minutes.at(-2)?.succeeded).toBe(1)
    expect(minutes[0]?.succeeded).toBe(1)
    expect(calls).toBe(4)
  })

  it("judge success without the canceled and the running, and with the interrupted", () => {
    const figures = figuresOf(
      [
        record(5),
        record(5),
        record(5),
        record(5, { status: "failed", errorCode: "AGENT_UNAVAILABLE", reason: "connect_failed" }),
        record(5, { status: "canceled", errorCode: "CANCELED", latencyMs: 9000 }),
        record(5, { status: "running", latencyMs: undefined }),
        record(0, { status: "running", latencyMs: undefined }),
      ],
      NOW,
    )
    expect(figures).toMatchObject({ calls: 7, failed: 2, success: 3 / 5, running: 1, canceled: 1 })
    expect(figures.latency?.p99).toBe(10)
    expect(figures.failures).toEqual([{ code: "AGENT_UNAVAILABLE", reason: "connect_failed", times: 1 }])
  })

  it("count each reason of a code by itself, the most frequent first", () => {
    const failed = (reason?: InvocationRecord["reason"]) =>
      record(1, { status: "failed", errorCode: "AGENT_UNAVAILABLE", reason })
    const { failures } = figuresOf([failed(), failed("tls_failed"), failed("tls_failed")], NOW)
    expect(failures.map(({ reason, times }) => [reason, times])).toEqual([
      ["tls_failed", 2],
      [undefined, 1],
    ])
  })

  it("name the failed Skills first", () => {
    const { skills } = figuresOf(
      [
        record(1, { capability: "busy" }),
        record(1, { capability: "busy" }),
        record(1, { capability: "broken", status: "timed_out", errorCode: "TIMEOUT", latencyMs: 70 }),
      ],
      NOW,
    )
    expect(skills.map((skill) => [skill.capability, skill.success, skill.p95])).toEqual([
      ["broken", 0, 70],
      ["busy", 1, 10],
    ])
  })

  it("say nothing about success and latency where nothing ended", () => {
    const figures = figuresOf([], NOW)
    expect(figures.success).toBeUndefined()
    expect(figures.latency).toBeUndefined()
  })
})
