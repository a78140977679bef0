/** Finding Invocations in a Trace: by words, by failure, and the next one from where somebody is. */

import type { InvocationRecord } from "@/api/contract.gen"
import { stateLabel } from "@/domain/StateBadge"
import { isFailure, stateOf } from "@/domain/invocationState"

/** In the order of the records; each word must be somewhere in an Invocation's ids, names, state, code or reason. */
export function idsMatching(
  records: ReadonlyArray<InvocationRecord>,
  query: string | undefined,
  now: number,
): ReadonlyArray<string> {
  const words = (query ?? "").toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  return idsWhere(records, (record) => {
    const text = textOf(record, now)
    return words.every((word) => text.includes(word))
  })
}

export function failures(records: ReadonlyArray<InvocationRecord>, now: number): ReadonlyArray<string> {
  return idsWhere(records, (record) => isFailure(stateOf(record, now)))
}

/** The next wanted id after the current one in an order, or the one before with a step of -1; it goes on at the other end. */
export function nextOf(
  wanted: ReadonlyArray<string>,
  order: ReadonlyArray<string>,
  current: string | undefined,
  step: 1 | -1,
): string | undefined {
  const places = new Map(order.map((id, index) => [id, index]))
  const sorted = [...wanted].sort((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0))
  const here = current === undefined ? -1 : (places.get(current) ?? -1)
  const isBeyond = (id: string) => ((places.get(id) ?? 0) - here) * step > 0
  if (step === 1) return sorted.find(isBeyond) ?? sorted[0]
  return sorted.findLast(isBeyond) ?? sorted.at(-1)
}

function idsWhere(
  records: ReadonlyArray<InvocationRecord>,
  accepts: (record: InvocationRecord) => boolean,
): ReadonlyArray<string> {
  return records.filter(accepts).map((record) => record.invocationId)
}

function textOf(record: InvocationRecord, now: number): string {
  const parts = [
    record.targetAgentId,
    record.agentCardVersion,
    record.capability,
    record.invocationId,
    record.agentReleaseId,
    record.caller.id,
    stateLabel(stateOf(record, now)),
    record.errorCode,
    record.reason,
  ]
  return parts.join("\n").toLowerCase()
}
