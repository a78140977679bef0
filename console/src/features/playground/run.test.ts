import { describe, expect, it } from "vitest"

import { Problem } from "@/api/problem"
import { StreamInterrupted, StreamInvalid, type StreamEvent } from "@/api/streamEvents"
import { answered, begin, broken, problemIn, received } from "@/features/playground/run"

const IDS = {
  invocationId: `inv_${"1".repeat(32)}`,
  rootTaskId: `task_${"2".repeat(32)}`,
  traceId: "3".repeat(32),
}
const NOW = 5000

function event(type: StreamEvent["type"], members: Partial<StreamEvent> = {}): StreamEvent {
  return { schemaVersion: "2", sequence: 0, type, status: "running", ...IDS, ...members }
}

function error(code: "CANCELED" | "TIMEOUT" | "AGENT_UNAVAILABLE") {
  return { error: { code, message: "", ...IDS } }
}

const run = begin({ text: "x" }, true, 1000)

describe("a run", () => {
  it("gathers chunks over several batches and ends with the terminal event", () => {
    const first = received(run, [event("accepted"), event("chunk", { chunk: "a" })], NOW)
    expect(first.outcome).toBeUndefined()
    expect(first.correlation).toEqual({ invocationId: IDS.invocationId, traceId: IDS.traceId })
    const last = received(first, [event("chunk", { chunk: null }), event("completed")], NOW)
    expect(last.chunks).toEqual(["a", null])
    expect(last.outcome).toEqual({ state: "succeeded" })
    expect(last.endedAt).toBe(NOW)
  })

  it("keeps the failure of the stream apart by its code", () => {
    for (const [type, code, state] of [
      ["failed", "AGENT_UNAVAILABLE", "failed"],
      ["canceled", "CANCELED", "canceled"],
      ["timed_out", "TIMEOUT", "timed_out"],
    ] as const) {
      const ended = received(run, [event(type, error(code))], NOW)
      expect(ended.outcome?.state).toBe(state)
      expect(problemIn(ended)?.code).toBe(code)
    }
  })

  it("succeeds with one result", () => {
    const ended = answered(begin({}, false, 0), IDS, null, NOW)
    expect(ended).toMatchObject({ result: null, outcome: { state: "succeeded" } })
  })

  it("is refused when no Invocation came to be, and failed when one did", () => {
    const before = new Problem({ message: "", code: "INSTALLATION_DISABLED", traceId: IDS.traceId })
    expect(broken(run, before, false, NOW).outcome).toEqual({ state: "refused", problem: before })
    const after = new Problem({ message: "", code: "TIMEOUT", ...IDS })
    expect(broken(run, after, false, NOW)).toMatchObject({
      outcome: { state: "timed_out" },
      correlation: { invocationId: IDS.invocationId },
    })
  })

  it("never counts as a success when its stream is cut or broken, whatever came before", () => {
    const done = received(run, [event("accepted"), event("completed")], NOW)
    expect(broken(done, new StreamInvalid("gap"), false, NOW).outcome).toEqual({
      state: "invalid",
      reason: "gap",
    })
    expect(broken(run, new StreamInterrupted("cut"), false, NOW).outcome?.state).toBe("interrupted")
  })

  it("is stopped when the caller left, unless it was over by then", () => {
    const aborted = new DOMException("", "AbortError")
    expect(broken(run, aborted, true, NOW).outcome).toEqual({ state: "stopped" })
    const done = received(run, [event("completed")], NOW)
    expect(broken(done, aborted, true, NOW)).toBe(done)
  })

  it("hides nothing that nobody foresaw", () => {
    expect(() => broken(run, new TypeError("bug"), false, NOW)).toThrow("bug")
  })
})
