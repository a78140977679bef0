/** A list of Invocations or Traces that grows: refreshed at its top, extended at its end, never read twice. */

import type { InvocationRecord, InvocationRecordStatus } from "@/api/contract.gen"

/** What a row needs so that it has a place in a list and can be told from a newer reading of itself. */
export type Placed = Pick<
  InvocationRecord,
  "invocationId" | "createdAt" | "deadlineAt" | "latencyMs" | "status" | "updatedAt"
>

/** `nextCursor` continues behind the last row. */
export interface Feed<Row extends Placed> {
  readonly rows: ReadonlyArray<Row>
  readonly nextCursor?: string
}

/** Negative when `a` comes first. */
export type Order = (a: Placed, b: Placed) => number

/** Where the rows of a list come from. */
export interface Source<Row extends Placed> {
  readonly key: ReadonlyArray<unknown>
  readonly order: Order
  /** A row that no longer has it is removed. */
  readonly status?: InvocationRecordStatus
  readonly readPage: (cursor: string | undefined, signal: AbortSignal | undefined) => Promise<Feed<Row>>
  /** The row as it is now; none when it is no longer in the list. */
  readonly readOne: (row: Row, signal: AbortSignal) => Promise<Row | undefined>
}

/** More that is new at once than this starts the list over. */
const MOST_HEAD_PAGES = 10
/** A search for something rare ends its pages early: so many are read for one that has rows. */
const MOST_EMPTY_PAGES = 5
/** Running rows behind the refreshed top that are read one by one. */
const MOST_SINGLE_READS = 10
const RUNNING: ReadonlySet<InvocationRecordStatus> = new Set(["pending", "routing", "running"])

/** createdAt descending, then id descending. */
export const newestFirst: Order = (a, b) => {
  if (a.createdAt !== b.createdAt) return a.createdAt > b.createdAt ? -1 : 1
  if (a.invocationId === b.invocationId) return 0
  return a.invocationId > b.invocationId ? -1 : 1
}

/** latencyMs descending, then id. */
export const slowestFirst: Order = (a, b) => {
  const difference = (b.latencyMs ?? 0) - (a.latencyMs ?? 0)
  if (difference !== 0) return difference
  if (a.invocationId === b.invocationId) return 0
  return a.invocationId < b.invocationId ? -1 : 1
}

/** The list as it is now; `known` answers what is known of it at the moment, which may grow while this reads. */
export async function readFeed<Row extends Placed>(
  source: Source<Row>,
  known: () => Feed<Row> | undefined,
  signal: AbortSignal,
): Promise<Feed<Row>> {
  const head = await readHead(source, known(), signal)
  const behind = stillRunning(known(), head, source.order)
  const readings = await Promise.all(
    behind.map(async (row) => ({ id: row.invocationId, now: await source.readOne(row, signal) })),
  )
  return renewed(refreshed(known(), head, source.order), readings, source.status)
}

/** The page behind a cursor: the first that has rows, unless there are too many without. */
export async function readOlder<Row extends Placed>(
  source: Source<Row>,
  cursor: string | undefined,
  signal?: AbortSignal,
): Promise<Feed<Row>> {
  let page = await source.readPage(cursor, signal)
  for (let more = 1; more < MOST_EMPTY_PAGES; more += 1) {
    if (page.rows.length > 0 || page.nextCursor === undefined) break
    page = await source.readPage(page.nextCursor, signal)
  }
  return page
}

/** Whether the head overlaps the feed, so that nothing is missing between the two. */
export function reaches(head: Feed<Placed>, feed: Feed<Placed> | undefined, order: Order): boolean {
  const [first, last] = [feed?.rows[0], head.rows.at(-1)]
  return first === undefined || last === undefined || order(last, first) >= 0
}

/** The feed with its top replaced by the head; unchanged rows and an unchanged feed stay the same objects. */
export function refreshed<Row extends Placed>(
  feed: Feed<Row> | undefined,
  head: Feed<Row>,
  order: Order,
): Feed<Row> {
  if (feed === undefined || !reaches(head, feed, order)) return head
  const last = head.rows.at(-1)
  // A search that ended early before it met a row says nothing about older ones, nor how far somebody went on.
  if (last === undefined && head.nextCursor !== undefined) return feed
  const rest =
    last === undefined || head.nextCursor === undefined ? [] : feed.rows.filter((row) => order(row, last) > 0)
  const before = new Map(feed.rows.map((row) => [row.invocationId, row]))
  const rows = [...head.rows.map((row) => kept(before.get(row.invocationId), row)), ...rest]
  const end = feed.rows.at(-1)
  // Behind the same last row the feed may have gone on through pages without rows.
  const goesFurther =
    head.nextCursor !== undefined && last !== undefined && end !== undefined && order(end, last) >= 0
  const nextCursor = goesFurther ? feed.nextCursor : head.nextCursor
  const same = rows.length === feed.rows.length && rows.every((row, index) => row === feed.rows[index])
  return same && nextCursor === feed.nextCursor ? feed : { rows, nextCursor }
}

/** The feed with one more page at its end. */
export function extended<Row extends Placed>(feed: Feed<Row>, page: Feed<Row>, order: Order): Feed<Row> {
  const last = feed.rows.at(-1)
  const older = last === undefined ? page.rows : page.rows.filter((row) => order(row, last) > 0)
  return { rows: [...feed.rows, ...older], nextCursor: page.nextCursor }
}

/** A row read again; `now` is absent when it left the list. */
export interface Reading<Row> {
  readonly id: string
  readonly now: Row | undefined
}

/** The feed with newer rows in place; a row that no longer has the filtered status is removed. */
export function renewed<Row extends Placed>(
  feed: Feed<Row>,
  readings: ReadonlyArray<Reading<Row>>,
  status: InvocationRecordStatus | undefined,
): Feed<Row> {
  if (readings.length === 0) return feed
  const newer = new Map(readings.map(({ id, now }) => [id, now]))
  const rows = feed.rows.flatMap((row) => {
    const now = newer.has(row.invocationId) ? newer.get(row.invocationId) : row
    if (now === undefined || (status !== undefined && now.status !== status)) return []
    return [kept(row, now)]
  })
  return { ...feed, rows }
}

/** The object of before when it says the same, so that what shows it need not be drawn again. */
function kept<Row extends Placed>(before: Row | undefined, row: Row): Row {
  return before !== undefined && saysTheSame(before, row) ? before : row
}

/** By its plain members: whatever changes in a row changes one of them. */
function saysTheSame(before: Placed, row: Placed): boolean {
  const old = new Map(Object.entries(before))
  return Object.entries(row).every(([name, value]) => typeof value === "object" || old.get(name) === value)
}

/** Rows after the head that are still running. */
function stillRunning<Row extends Placed>(
  feed: Feed<Row> | undefined,
  head: Feed<Row>,
  order: Order,
): ReadonlyArray<Row> {
  const last = head.rows.at(-1)
  if (feed === undefined || last === undefined || head.nextCursor === undefined) return []
  const now = new Date().toISOString()
  return feed.rows
    .filter((row) => RUNNING.has(row.status) && row.deadlineAt > now && order(row, last) > 0)
    .slice(0, MOST_SINGLE_READS)
}

async function readHead<Row extends Placed>(
  source: Source<Row>,
  feed: Feed<Row> | undefined,
  signal: AbortSignal,
): Promise<Feed<Row>> {
  let head = await (feed === undefined
    ? readOlder(source, undefined, signal)
    : source.readPage(undefined, signal))
  for (let page = 1; page < MOST_HEAD_PAGES; page += 1) {
    if (head.nextCursor === undefined || reaches(head, feed, source.order)) break
    const next = await source.readPage(head.nextCursor, signal)
    head = { rows: [...head.rows, ...next.rows], nextCursor: next.nextCursor }
  }
  return head
}
