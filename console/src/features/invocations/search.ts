/** The URL state of the list: its filters, and whether it is paused. */

import { PATTERNS } from "@/api/contract.gen"
import type { InvocationFilters } from "@/api/invocationFeed"
import { flag, matching, oneOf, type RawSearch } from "@/config/urlState"

export const STATUSES = [
  "pending",
  "routing",
  "running",
  "succeeded",
  "failed",
  "canceled",
  "timed_out",
] as const

export interface InvocationsSearch {
  readonly status?: (typeof STATUSES)[number]
  readonly agent?: string
  readonly capability?: string
  /** RFC 3339 with offset: created at or after. */
  readonly since?: string
  /** RFC 3339 with offset: created before. */
  readonly until?: string
  /** Absent means true: the list is kept up to date. */
  readonly live?: boolean
}

export const NO_FILTERS: Omit<InvocationsSearch, "live"> = {
  status: undefined,
  agent: undefined,
  capability: undefined,
  since: undefined,
  until: undefined,
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d)$/

export function invocationsSearch(search: RawSearch): InvocationsSearch {
  return {
    status: oneOf(search["status"], STATUSES),
    agent: matching(search["agent"], PATTERNS.safeIdentifier),
    capability: matching(search["capability"], PATTERNS.safeIdentifier),
    since: instant(search["since"]),
    until: instant(search["until"]),
    live: flag(search["live"]) === false ? false : undefined,
  }
}

export function isFiltered({ status, agent, capability, since, until }: InvocationsSearch): boolean {
  return [status, agent, capability, since, until].some((value) => value !== undefined)
}

export function filtersOf({ status, agent, capability, since, until }: InvocationsSearch): InvocationFilters {
  return { status, agentId: agent, capability, since, until }
}

/** The value of a local date and time control, to the minute or second, for an instant; and back. */
export function localTime(value: string | undefined): string {
  if (value === undefined) return ""
  const at = new Date(value)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}

export function instantOfLocal(local: string): string | undefined {
  const at = new Date(local)
  return local === "" || Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}

function instant(value: unknown): string | undefined {
  const found = matching(value, INSTANT)
  return found === undefined || Number.isNaN(Date.parse(found)) ? undefined : found
}
