/** The URL state of the lists of Traces and of Invocations: filters, order, and whether the list is paused. */

import {
  PATTERNS,
  REASONS,
  type InvocationRecordErrorCode,
  type PlatformErrorReason,
} from "@/api/contract.gen"
import type { InvocationFilters, TraceFilters } from "@/api/lists"
import { flag, matching, oneOf, type RawSearch } from "@/config/urlState"
import { PRESETS, startOf, type Preset } from "@/domain/range"

export const STATUSES = [
  "pending",
  "routing",
  "running",
  "succeeded",
  "failed",
  "canceled",
  "timed_out",
] as const

/** With which an Invocation can end. */
export const CODES = [
  "A2A_PROTOCOL_ERROR",
  "AGENT_AUTH_UNSUPPORTED",
  "AGENT_EXECUTION_FAILED",
  "AGENT_RESPONSE_TOO_LARGE",
  "AGENT_UNAVAILABLE",
  "CANCELED",
  "DEPENDENCY_ERROR",
  "INTERNAL_ERROR",
  "ROUTE_NOT_FOUND",
  "TIMEOUT",
] as const satisfies ReadonlyArray<InvocationRecordErrorCode>

export interface ListSearch {
  readonly status?: (typeof STATUSES)[number]
  readonly agent?: string
  readonly capability?: string
  readonly caller?: string
  readonly code?: InvocationRecordErrorCode
  readonly reason?: PlatformErrorReason
  readonly trace?: string
  /** Only Invocations that began a Trace; every Trace has one of them. */
  readonly root?: boolean
  /** A range that ends now; `since` and `until` are for any other. */
  readonly last?: Preset
  /** RFC 3339 with offset: created at or after. */
  readonly since?: string
  /** RFC 3339 with offset: created before. */
  readonly until?: string
  /** Absent means the newest first. */
  readonly order?: "slowest"
  /** Absent means true: the list is kept up to date. */
  readonly live?: boolean
}

export const NO_FILTERS: Omit<ListSearch, "live" | "order"> = {
  status: undefined,
  agent: undefined,
  capability: undefined,
  caller: undefined,
  code: undefined,
  reason: undefined,
  trace: undefined,
  root: undefined,
  last: undefined,
  since: undefined,
  until: undefined,
}

/** Those that are folded away where there is little room. */
export const FURTHER = ["agent", "capability", "caller", "code", "reason", "trace", "root"] as const

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)$/

export function listSearch(search: RawSearch): ListSearch {
  const last = oneOf(search["last"], PRESETS)
  const code = oneOf(search["code"], CODES)
  return {
    status: oneOf(search["status"], STATUSES),
    agent: matching(search["agent"], PATTERNS.safeIdentifier),
    capability: matching(search["capability"], PATTERNS.safeIdentifier),
    caller: matching(search["caller"], PATTERNS.safeIdentifier),
    code,
    reason: oneOf(search["reason"], reasonsOf(code)),
    trace: matching(search["trace"], PATTERNS.traceId),
    root: flag(search["root"]) === true ? true : undefined,
    last,
    since: last === undefined ? instant(search["since"]) : undefined,
    until: last === undefined ? instant(search["until"]) : undefined,
    order: oneOf(search["order"], ["slowest"]),
    live: flag(search["live"]) === false ? false : undefined,
  }
}

/** The reasons that may stand beside a code, or all of them. */
export function reasonsOf(code: InvocationRecordErrorCode | undefined): ReadonlyArray<PlatformErrorReason> {
  const codes = code === undefined ? CODES : [code]
  const names = codes.flatMap((each) => Object.keys(REASONS[each] ?? {}) as PlatformErrorReason[])
  return [...new Set(names)].sort()
}

export function isFiltered(search: ListSearch): boolean {
  return Object.keys(NO_FILTERS).some((name) => search[name as keyof ListSearch] !== undefined)
}

/** How many of the filters that may be folded away are set. */
export function furtherOf(search: ListSearch): number {
  return FURTHER.filter((name) => search[name] !== undefined).length
}

/** `now` is the moment from which a named range counts back. */
export function traceFiltersOf(search: ListSearch, now: number): TraceFilters {
  const { status, agent, capability, caller, code, reason, trace, last, since, until, order } = search
  return {
    ...{ status, agentId: agent, capability, callerId: caller, errorCode: code, reason, traceId: trace },
    since: last === undefined ? since : startOf(last, now),
    until,
    order,
  }
}

export function invocationFiltersOf(search: ListSearch, now: number): InvocationFilters {
  return { ...traceFiltersOf(search, now), root: search.root }
}

function instant(value: unknown): string | undefined {
  const found = matching(value, INSTANT)
  return found === undefined || Number.isNaN(Date.parse(found)) ? undefined : found
}
