/** The numbers of one hour of Invocations: calls, success, latency and failures. */

import type { ErrorCode, InvocationRecord, PlatformErrorReason } from "@/api/contract.gen"
import { grouped } from "@/components/groups"
import { isEnded, isFailure, stateOf } from "@/domain/invocationState"

export interface Minute {
  /** Milliseconds since 1970. */
  readonly start: number
  readonly succeeded: number
  readonly failed: number
  /** Running or canceled. */
  readonly other: number
}

export interface Share {
  readonly calls: number
  readonly failed: number
  /** Of those that ended, were interrupted, and were not canceled by their caller; absent when there are none. */
  readonly success?: number
}

export interface SkillShare extends Share {
  readonly agentId: string
  readonly capability: string
  readonly p95?: number
}

export interface FailureShare {
  readonly code: ErrorCode
  readonly reason?: PlatformErrorReason
  readonly times: number
}

export interface Figures extends Share {
  readonly minutes: ReadonlyArray<Minute>
  readonly running: number
  readonly canceled: number
  /** Milliseconds, of those that ended and were not canceled; absent when there are none. */
  readonly latency?: Readonly<Record<"p50" | "p90" | "p95" | "p99", number>>
  /** Those with failures first, then the busiest. */
  readonly skills: ReadonlyArray<SkillShare>
  /** The most frequent first. */
  readonly failures: ReadonlyArray<FailureShare>
}

const MINUTE = 60_000
export const MINUTES = 60

export function figuresOf(all: ReadonlyArray<InvocationRecord>, now: number): Figures {
  const minutes = emptyMinutes(now)
  const first = minutes[0]?.start ?? now
  const records = all.filter((record) => Date.parse(record.createdAt) >= first)
  for (const record of records) {
    const minute = minutes[Math.min(MINUTES - 1, Math.floor((Date.parse(record.createdAt) - first) / MINUTE))]
    if (minute !== undefined) minute[kindOf(record, now)] += 1
  }
  const latencies = latenciesOf(records)
  const of = (share: number) => percentile(latencies, share) ?? 0
  return {
    ...shareOf(records, now),
    minutes,
    running: records.filter((record) => !isEnded(record.status) && stateOf(record, now) !== "interrupted")
      .length,
    canceled: records.filter((record) => record.status === "canceled").length,
    latency:
      latencies.length === 0 ? undefined : { p50: of(0.5), p90: of(0.9), p95: of(0.95), p99: of(0.99) },
    skills: skillsOf(records, now),
    failures: failuresOf(records),
  }
}

/** The smallest value that at least this share of all values does not exceed; the values are sorted. */
export function percentile(sorted: ReadonlyArray<number>, share: number): number | undefined {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]
}

function emptyMinutes(now: number): Array<{ -readonly [Member in keyof Minute]: Minute[Member] }> {
  const last = Math.floor(now / MINUTE) * MINUTE
  return Array.from({ length: MINUTES }, (_, index) => ({
    start: last - (MINUTES - 1 - index) * MINUTE,
    succeeded: 0,
    failed: 0,
    other: 0,
  }))
}

function kindOf(record: InvocationRecord, now: number): "succeeded" | "failed" | "other" {
  const state = stateOf(record, now)
  if (state === "succeeded") return "succeeded"
  return isFailure(state) ? "failed" : "other"
}

function shareOf(records: ReadonlyArray<InvocationRecord>, now: number): Share {
  const kinds = grouped(records, (record) => kindOf(record, now))
  const [succeeded, failed] = [kinds.get("succeeded")?.length ?? 0, kinds.get("failed")?.length ?? 0]
  const judged = succeeded + failed
  return { calls: records.length, failed, success: judged === 0 ? undefined : succeeded / judged }
}

function latenciesOf(records: ReadonlyArray<InvocationRecord>): ReadonlyArray<number> {
  return records
    .filter((record) => record.status !== "canceled")
    .flatMap((record) => record.latencyMs ?? [])
    .sort((a, b) => a - b)
}

function skillsOf(records: ReadonlyArray<InvocationRecord>, now: number): ReadonlyArray<SkillShare> {
  const groups = grouped(records, (record) => `${record.targetAgentId} ${record.capability}`)
  const skills = [...groups].map(([key, group]) => {
    const [agentId = "", capability = ""] = key.split(" ")
    return { agentId, capability, ...shareOf(group, now), p95: percentile(latenciesOf(group), 0.95) }
  })
  return skills.sort((a, b) => b.failed - a.failed || b.calls - a.calls)
}

function failuresOf(records: ReadonlyArray<InvocationRecord>): Figures["failures"] {
  const failed = records.flatMap(({ status, errorCode: code, reason }) =>
    status === "canceled" || code === undefined ? [] : [{ code, reason }],
  )
  const groups = grouped(failed, ({ code, reason }) => `${code} ${reason ?? ""}`)
  const shares = [...groups.values()].flatMap((group) =>
    group.slice(0, 1).map((one) => ({ ...one, times: group.length })),
  )
  return shares.sort((a, b) => b.times - a.times)
}
