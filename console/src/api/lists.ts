/** The lists of a Workspace: its Invocations, and its Traces by their roots. */

import type { InvocationRecord, Operations, TraceItem } from "@/api/contract.gen"
import { newestFirst, slowestFirst, type Placed, type Source } from "@/api/feed"
import { call } from "@/api/http"

export type InvocationFilters = Omit<Operations["listInvocations"]["query"], "limit" | "cursor">
export type TraceFilters = Omit<Operations["listTraces"]["query"], "limit" | "cursor">

/** A Trace in the place of its root. */
export interface TraceRow extends Placed {
  readonly item: TraceItem
  /** Counts of the item, which change while its root does not. */
  readonly invocations: number
  readonly running: number
  readonly failures: number
  readonly durationMs: number
}

const PAGE = 100

export function invocationList(workspaceId: string, filters: InvocationFilters): Source<InvocationRecord> {
  return {
    key: ["listInvocations", workspaceId, filters, "feed"],
    order: orderOf(filters.order),
    status: filters.status,
    readPage: async (cursor, signal) => {
      const query = { ...filters, limit: PAGE, cursor }
      const page = await call("listInvocations", { path: { workspaceId }, query }, signal)
      return { rows: page.items, nextCursor: page.nextCursor }
    },
    readOne: async ({ invocationId }, signal) => {
      const detail = await call("readInvocation", { path: { workspaceId, invocationId } }, signal)
      return detail.invocation
    },
  }
}

export function traceList(workspaceId: string, filters: TraceFilters): Source<TraceRow> {
  const read = async (query: Operations["listTraces"]["query"], signal: AbortSignal | undefined) => {
    const page = await call("listTraces", { path: { workspaceId }, query }, signal)
    return { rows: page.items.map(rowOf), nextCursor: page.nextCursor }
  }
  return {
    key: ["listTraces", workspaceId, filters, "feed"],
    order: orderOf(filters.order),
    status: filters.status,
    readPage: (cursor, signal) => read({ ...filters, limit: PAGE, cursor }, signal),
    readOne: async ({ item }, signal) => (await read({ traceId: item.traceId, limit: 1 }, signal)).rows[0],
  }
}

function rowOf(item: TraceItem): TraceRow {
  const { invocationId, createdAt, deadlineAt, latencyMs, status, updatedAt } = item.root
  const { invocations, running, failures, durationMs } = item
  const place = { invocationId, createdAt, deadlineAt, latencyMs, status, updatedAt }
  return { ...place, item, invocations, running, failures, durationMs }
}

function orderOf(order: "newest" | "slowest" | undefined) {
  return order === "slowest" ? slowestFirst : newestFirst
}
