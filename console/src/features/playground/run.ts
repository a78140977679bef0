/** One Invocation as the Playground sees it: what was sent, what has come, and how it ended. */

import type { Json } from "@/api/contract.gen"
import { platformError, Problem } from "@/api/problem"
import { isTerminal, StreamInterrupted, StreamInvalid, type StreamEvent } from "@/api/streamEvents"
import type { SkillInput } from "@/features/playground/formValue"

export type Outcome =
  | { readonly state: "succeeded" }
  | { readonly state: "failed" | "canceled" | "timed_out"; readonly problem: Problem }
  /** No Invocation was accepted, or the answer does not say whether one was. */
  | { readonly state: "refused"; readonly problem: Problem }
  | { readonly state: "interrupted" | "invalid"; readonly reason: string }
  /** The caller left; the Ledger shows how the Invocation ended. */
  | { readonly state: "stopped" }

export interface Correlation {
  readonly invocationId: string
  readonly traceId: string
}

export interface Run {
  readonly input: SkillInput
  readonly stream: boolean
  readonly startedAt: number
  readonly endedAt?: number
  readonly correlation?: Correlation
  readonly chunks: ReadonlyArray<Json>
  readonly result?: Json
  readonly outcome?: Outcome
}

export function begin(input: SkillInput, stream: boolean, now: number): Run {
  return { input, stream, startedAt: now, chunks: [] }
}

/** The run after some more events of its stream. */
export function received(run: Run, events: ReadonlyArray<StreamEvent>, now: number): Run {
  const [first] = events
  if (first === undefined) return run
  const { invocationId, traceId } = first
  const chunks = events.flatMap((event) => (event.type === "chunk" ? [event.chunk as Json] : []))
  const last = events.find(isTerminal)
  const gone: Run = {
    ...run,
    correlation: { invocationId, traceId },
    chunks: chunks.length === 0 ? run.chunks : run.chunks.concat(chunks),
  }
  return last === undefined ? gone : ended(gone, terminal(last), now)
}

export function answered(run: Run, correlation: Correlation, result: Json, now: number): Run {
  return ended({ ...run, correlation, result }, { state: "succeeded" }, now)
}

/** The run after something was thrown; a stream that broke never counts as a success, whatever came before. */
export function broken(run: Run, failure: unknown, hasLeft: boolean, now: number): Run {
  if (hasLeft) return run.outcome === undefined ? ended(run, { state: "stopped" }, now) : run
  if (failure instanceof StreamInterrupted)
    return ended(run, { state: "interrupted", reason: failure.message }, now)
  if (failure instanceof StreamInvalid) return ended(run, { state: "invalid", reason: failure.message }, now)
  if (!(failure instanceof Problem)) throw failure
  const { invocationId, traceId } = failure
  if (invocationId === undefined || traceId === undefined)
    return ended(run, { state: "refused", problem: failure }, now)
  return ended({ ...run, correlation: { invocationId, traceId } }, failed(failure), now)
}

export function problemIn(run: Run | undefined): Problem | undefined {
  return run?.outcome !== undefined && "problem" in run.outcome ? run.outcome.problem : undefined
}

function ended(run: Run, outcome: Outcome, now: number): Run {
  return { ...run, outcome, endedAt: now }
}

function terminal(event: StreamEvent): Outcome {
  const error = platformError(event.error)
  return error === undefined
    ? { state: "succeeded" }
    : failed(new Problem({ ...error, operation: "invokeAgent" }))
}

function failed(problem: Problem): Outcome {
  if (problem.code === "CANCELED") return { state: "canceled", problem }
  return { state: problem.code === "TIMEOUT" ? "timed_out" : "failed", problem }
}
