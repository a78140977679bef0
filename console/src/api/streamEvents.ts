/** What makes a result stream exact (Stream Event v2): the form of each event and the order of all of them. */

import { PATTERNS, type InvocationStreamEvent } from "@/api/contract.gen"
import { isObject, platformError } from "@/api/problem"

export type StreamEvent = InvocationStreamEvent
type EventType = StreamEvent["type"]

/** The stream broke a rule; nothing received after that counts. */
export class StreamInvalid extends Error {}

/** The stream ended before its terminal event; what came is incomplete. */
export class StreamInterrupted extends Error {}

const STATUS: Readonly<Record<EventType, StreamEvent["status"]>> = {
  accepted: "pending",
  chunk: "running",
  completed: "succeeded",
  failed: "failed",
  canceled: "canceled",
  timed_out: "timed_out",
}
const TERMINAL: ReadonlySet<EventType> = new Set(["completed", "failed", "canceled", "timed_out"])
const COMMON = ["schemaVersion", "sequence", "type", "status", "invocationId", "rootTaskId", "traceId"]
const IDS = ["invocationId", "rootTaskId", "traceId"] as const
const ERROR_MEMBERS = ["code", "message", ...IDS]

export function isTerminal(event: StreamEvent): boolean {
  return TERMINAL.has(event.type)
}

/** Reads the events of one stream, in the order in which they arrive. */
export class StreamRules {
  private first: StreamEvent | undefined
  private sequence = 0
  private chunks = 0
  private ended = false

  read(text: string): StreamEvent {
    const event = exactEvent(parsed(text))
    if (this.ended) throw new StreamInvalid("An event followed the terminal one.")
    if (event.sequence !== this.sequence) throw new StreamInvalid("The events are not numbered without gap.")
    if ((event.type === "accepted") !== (this.sequence === 0)) {
      throw new StreamInvalid("`accepted` is not the first event, or not the only one.")
    }
    this.first ??= event
    const { first } = this
    if (IDS.some((name) => event[name] !== first[name]))
      throw new StreamInvalid("An event belongs to another Invocation.")
    if (event.type === "chunk") {
      if (event.chunkIndex !== this.chunks)
        throw new StreamInvalid("The chunks are not numbered without gap.")
      this.chunks += 1
    }
    this.sequence += 1
    this.ended = isTerminal(event)
    return event
  }

  /** To be called at the end of the response. */
  end(): void {
    if (!this.ended) throw new StreamInterrupted("The stream ended before its last event.")
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new StreamInvalid("An event is not JSON.")
  }
}

function exactEvent(value: unknown): StreamEvent {
  const invalid = new StreamInvalid("An event does not have the form of a Stream Event v2.")
  if (!isObject(value) || value["schemaVersion"] !== "2") throw invalid
  const type = value["type"] as EventType
  if (!Object.hasOwn(STATUS, type) || value["status"] !== STATUS[type] || !isIndex(value["sequence"]))
    throw invalid
  if (!IDS.every((name) => isId(value[name], name))) throw invalid
  const own =
    type === "chunk" ? ["chunkIndex", "chunk"] : type !== "completed" && TERMINAL.has(type) ? ["error"] : []
  const expected = new Set([...COMMON, ...own])
  const names = Object.keys(value)
  if (names.length !== expected.size || !names.every((name) => expected.has(name))) throw invalid
  if (type === "chunk" && !isIndex(value["chunkIndex"])) throw invalid
  if (own.includes("error") && !isOwnError(value["error"], type, value)) throw invalid
  return value as StreamEvent
}

function isOwnError(error: unknown, type: EventType, event: Record<string, unknown>): boolean {
  if (!isObject(error) || platformError(error) === undefined) return false
  const names = Object.keys(error).filter((name) => name !== "reason")
  const exact = names.length === ERROR_MEMBERS.length && ERROR_MEMBERS.every((name) => name in error)
  if (!exact || !IDS.every((name) => error[name] === event[name])) return false
  const code = error["code"]
  if (type === "canceled") return code === "CANCELED"
  if (type === "timed_out") return code === "TIMEOUT"
  return code !== "CANCELED" && code !== "TIMEOUT"
}

function isIndex(value: unknown): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0
}

function isId(value: unknown, name: (typeof IDS)[number]): boolean {
  return typeof value === "string" && PATTERNS[name].test(value)
}
