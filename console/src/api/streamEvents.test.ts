import { describe, expect, it } from "vitest"

import { Frames } from "@/api/stream"
import { StreamInterrupted, StreamInvalid, StreamRules } from "@/api/streamEvents"

const ids = {
  invocationId: `inv_${"1".repeat(32)}`,
  rootTaskId: `task_${"2".repeat(32)}`,
  traceId: "3".repeat(32),
}
const accepted = { schemaVersion: "2", sequence: 0, type: "accepted", status: "pending", ...ids }
const chunk = (sequence: number, chunkIndex: number) => ({
  ...{ schemaVersion: "2", sequence, type: "chunk", status: "running", ...ids },
  ...{ chunkIndex, chunk: { text: "x" } },
})
const completed = (sequence: number) => ({
  ...{ schemaVersion: "2", sequence, type: "completed", status: "succeeded", ...ids },
})
const ended = (sequence: number, type: string, code: string, other: object = {}) => ({
  ...{ schemaVersion: "2", sequence, type, status: type, ...ids },
  error: { code, message: "Said.", ...ids, ...other },
})

function read(...events: object[]) {
  const rules = new StreamRules()
  for (const event of events) rules.read(JSON.stringify(event))
  rules.end()
}

describe("a result stream", () => {
  it("is accepted, chunks, and exactly one terminal", () => {
    read(accepted, chunk(1, 0), chunk(2, 1), completed(3))
    read(accepted, ended(1, "failed", "AGENT_UNAVAILABLE"))
    read(accepted, ended(1, "failed", "AGENT_RESPONSE_TOO_LARGE", { reason: "schema_work" }))
    read(accepted, ended(1, "canceled", "CANCELED"))
    read(accepted, ended(1, "timed_out", "TIMEOUT"))
  })

  it.each([
    ["a gap in the sequence", [accepted, chunk(2, 0)]],
    ["a gap in the chunks", [accepted, chunk(1, 1)]],
    ["an event after the terminal", [accepted, completed(1), chunk(2, 0)]],
    ["no accepted first", [chunk(0, 0)]],
    ["accepted twice", [accepted, { ...accepted, sequence: 1 }]],
    [
      "an event of another Invocation",
      [accepted, { ...completed(1), invocationId: `inv_${"9".repeat(32)}` }],
    ],
    [
      "an error of another Trace",
      [accepted, ended(1, "failed", "AGENT_UNAVAILABLE", { traceId: "4".repeat(32) })],
    ],
    ["a status that is not the type's", [accepted, { ...completed(1), status: "failed" }]],
    ["an unknown member", [accepted, { ...completed(1), result: 1 }]],
    [
      "a chunk without its value",
      [accepted, { ...completed(1), type: "chunk", status: "running", chunkIndex: 0 }],
    ],
    [
      "a reason of another code",
      [accepted, ended(1, "failed", "AGENT_UNAVAILABLE", { reason: "schema_work" })],
    ],
    ["failed with TIMEOUT", [accepted, ended(1, "failed", "TIMEOUT")]],
    ["canceled with another code", [accepted, ended(1, "canceled", "DEPENDENCY_ERROR")]],
    ["a fractional index", [accepted, { ...chunk(1, 0), chunkIndex: 0.5 }]],
    ["another version", [{ ...accepted, schemaVersion: "1" }]],
  ])("is invalid with %s", (_, events) => {
    expect(() => read(...events)).toThrow(StreamInvalid)
  })

  it.each([
    ["nothing", []],
    ["accepted", [accepted]],
    ["a chunk", [accepted, chunk(1, 0)]],
  ])("that ends after %s is interrupted, never a success", (_, events) => {
    expect(() => read(...events)).toThrow(StreamInterrupted)
  })
})

describe("the frames of a stream", () => {
  const bytes = (text: string) => new TextEncoder().encode(text)

  it("are cut wherever the pieces were cut, comments left out", () => {
    const whole = bytes('data: {"a":"é"}\n\n:\n\ndata: {"b":2}\n\n')
    for (let at = 0; at <= whole.length; at += 1) {
      const frames = new Frames()
      const found = [...frames.feed(whole.slice(0, at)), ...frames.feed(whole.slice(at))]
      expect(found).toEqual(['{"a":"é"}', '{"b":2}'])
    }
  })

  it.each(["event: x\n\n", "data: 1\ndata: 2\n\n", "id: 1\n\n", "data: 1\r\n\r\n\n\n", "data:1\n\n"])(
    "refuse %j",
    (text) => {
      expect(() => new Frames().feed(bytes(text))).toThrow(StreamInvalid)
    },
  )
})
