/** The Invocations of a Workspace as one growing list: refreshed at its top, extended at its end, never read twice. */

import { queryOptions } from "@tanstack/react-query"

import type { InvocationRecord, InvocationRecordStatus, Operations } from "@/api/contract.gen"
import { call } from "@/api/http"
import type { Problem } from "@/api/problem"

export type InvocationFilters = Omit<Operations["listInvocations"]["query"], "limit" | "cursor">

/** Newest first; `nextCursor` continues behind the last row. */
export interface Feed {
  readonly rows: ReadonlyArray<InvocationRecord>
  readonly nextCursor?: string
}

const PAGE = 100
/** More that is new at once than this starts the list over. */
const MOST_HEAD_PAGES = 10
/** Running rows behind the refreshed top that are read one by one. */
const MOST_SINGLE_READS = 10
const RUNNING: ReadonlySet<InvocationRecordStatus> = new Set(["pending", "routing", "running"])

/** `useQuery({ ...invocationFeed(workspaceId, filters), refetchInterval: 2000 })` */
export function invocationFeed(workspaceId: string, filters: InvocationFilters) {
  return queryOptions<Feed, Problem>({
    queryKey: ["listInvocations", workspaceId, filters, "feed"],
    queryFn: async ({ client, queryKey, signal }) => {
      const head = await readHead(workspaceId, filters, client.getQueryData<Feed>(queryKey), signal)
      const behind = stillRunning(client.getQueryData<Feed>(queryKey), head)
      const single = await Promise.all(behind.map((row) => readOne(row, signal)))
      // What is known is taken at the end: older rows may have been added in the meantime.
      return renewed(refreshed(client.getQueryData<Feed>(queryKey), head), single, filters.status)
    },
    // Rows keep their identity in `refreshed`; comparing ten thousand of them in depth would take longer than reading them.
    structuralSharing: false,
  })
}

export async function readOlder(
  workspaceId: string,
  filters: InvocationFilters,
  cursor: string,
  signal?: AbortSignal,
): Promise<Feed> {
  const page = await call(
    "listInvocations",
    { path: { workspaceId }, query: { ...filters, limit: PAGE, cursor } },
    signal,
  )
  return { rows: page.items, nextCursor: page.nextCursor }
}

/** The order of the list: createdAt descending, then id descending; negative when `a` comes first. */
export function order(a: InvocationRecord, b: InvocationRecord): number {
  if (a.createdAt !== b.createdAt) return a.createdAt > b.createdAt ? -1 : 1
  if (a.invocationId === b.invocationId) return 0
  return a.invocationId > b.invocationId ? -1 : 1
}

/** Whether the head overlaps the feed, so that nothing is missing between the two. */
export function reaches(head: Feed, feed: Feed | undefined): boolean {
  const [first, last] = [feed?.rows[0], head.rows.at(-1)]
  return first === undefined || last === undefined || order(last, first) >= 0
}

/** The feed with its top replaced by the head; unchanged rows and an unchanged feed stay the same objects. */
export function refreshed(feed: Feed | undefined, head: Feed): Feed {
  const last = head.rows.at(-1)
  if (feed === undefined || !reaches(head, feed)) return head
  const rest =
    last === undefined || head.nextCursor === undefined ? [] : feed.rows.filter((row) => order(row, last) > 0)
  const before = new Map(feed.rows.map((row) => [row.invocationId, row]))
  const rows = [...head.rows.map((row) => kept(before.get(row.invocationId), row)), ...rest]
  const nextCursor = rest.length > 0 ? feed.nextCursor : head.nextCursor
  const same = rows.length === feed.rows.length && rows.every((row, index) => row === feed.rows[index])
  return same && nextCursor === feed.nextCursor ? feed : { rows, nextCursor }
}

/** The feed with one more page at its end. */
export function extended(feed: Feed, page: Feed): Feed {
  const last = feed.rows.at(-1)
  const older = last === undefined ? page.rows : page.rows.filter((row) => order(row, last) > 0)
  return { rows: [...feed.rows, ...older], nextCursor: page.nextCursor }
}

/** The feed with newer rows in place; a row that no longer has the filtered status is removed. */
export function renewed(
  feed: Feed,
  readings: ReadonlyArray<InvocationRecord>,
  status: InvocationRecordStatus | undefined,
): Feed {
  if (readings.length === 0) return feed
  const newer = new Map(readings.map((row) => [row.invocationId, row]))
  const rows = feed.rows
    .map((row) => kept(row, newer.get(row.invocationId) ?? row))
    .filter((row) => status === undefined || row.status === status)
  return { ...feed, rows }
}

function kept(before: InvocationRecord | undefined, row: InvocationRecord): InvocationRecord {
  return before?.updatedAt === row.updatedAt && before.status === row.status ? before : row
}

/** Rows after the head that are still running. */
function stillRunning(feed: Feed | undefined, head: Feed): ReadonlyArray<InvocationRecord> {
  const last = head.rows.at(-1)
  if (feed === undefined || last === undefined || head.nextCursor === undefined) return []
  const now = new Date().toISOString()
  return feed.rows
    .filter((row) => RUNNING.has(row.status) && row.deadlineAt > now && order(row, last) > 0)
    .slice(0, MOST_SINGLE_READS)
}

async function readOne(row: InvocationRecord, signal: AbortSignal): Promise<InvocationRecord> {
  const { workspaceId, invocationId } = row
  const detail = await call("readInvocation", { path: { workspaceId, invocationId } }, signal)
  return detail.invocation
}

async function readHead(
  workspaceId: string,
  filters: InvocationFilters,
  feed: Feed | undefined,
  signal: AbortSignal,
): Promise<Feed> {
  let head: Feed = { rows: [] }
  for (let page = 0; page < MOST_HEAD_PAGES; page += 1) {
    const query = { ...filters, limit: PAGE, cursor: head.nextCursor }
    const answer = await call("listInvocations", { path: { workspaceId }, query }, signal)
    head = { rows: [...head.rows, ...answer.items], nextCursor: answer.nextCursor }
    if (head.nextCursor === undefined || reaches(head, feed)) break
  }
  return head
}
