/** The state of an Invocation from its record: its status, or interrupted if nothing ended it in time. */

import type { InvocationRecord, InvocationRecordStatus } from "@/api/contract.gen"

export type InvocationState = InvocationRecordStatus | "interrupted"

type StatusAndDeadline = Pick<InvocationRecord, "status" | "deadlineAt">

const ENDED: ReadonlySet<InvocationRecordStatus> = new Set(["succeeded", "failed", "canceled", "timed_out"])
const FAILURES: ReadonlySet<InvocationState> = new Set(["failed", "timed_out", "interrupted"])
/** The maximum time that a Router needs to write an end after the deadline. */
const LAST_WRITE_MILLISECONDS = 15_000

export function isEnded(status: InvocationRecordStatus): boolean {
  return ENDED.has(status)
}

/** An Invocation without an end after its deadline is interrupted: no Router works on it. */
export function stateOf(record: StatusAndDeadline, now: number): InvocationState {
  if (isEnded(record.status)) return record.status
  return Date.parse(record.deadlineAt) < now ? "interrupted" : record.status
}

/** Whether the record may still change. */
export function isLive(record: StatusAndDeadline, now: number): boolean {
  return !isEnded(record.status) && now < Date.parse(record.deadlineAt) + LAST_WRITE_MILLISECONDS
}

/** The words that say why it did not succeed: the code and, where there is one, the reason. */
export function failureText({
  errorCode,
  reason,
}: Pick<InvocationRecord, "errorCode" | "reason">): string | undefined {
  return errorCode === undefined || reason === undefined ? errorCode : `${errorCode} ${reason}`
}

/** A cancellation is the choice of the caller, not a failure. */
export function isFailure(state: InvocationState): boolean {
  return FAILURES.has(state)
}
