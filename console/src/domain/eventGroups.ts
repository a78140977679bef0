/** Ledger events as they are read: one entry each, except that progress in a row is one entry with its parts. */

import type { InvocationEvent } from "@/api/contract.gen"
import { micros } from "@/components/instants"

export interface EventGroup {
  readonly events: ReadonlyArray<InvocationEvent>
  readonly first: InvocationEvent
  readonly last: InvocationEvent
  /** Microseconds since the Invocation was created, of the last event. */
  readonly after: number
  readonly chunks: number
  readonly bytes: number
}

export function eventGroups(events: ReadonlyArray<InvocationEvent>): ReadonlyArray<EventGroup> {
  const start = events[0] === undefined ? 0 : micros(events[0].occurredAt)
  const runs: InvocationEvent[][] = []
  for (const event of events) {
    const run = runs.at(-1)
    if (run !== undefined && event.type === "stream" && run[0]?.type === "stream") run.push(event)
    else runs.push([event])
  }
  return runs.map((run) => {
    const [first, last] = [run[0], run.at(-1)] as [InvocationEvent, InvocationEvent]
    return {
      events: run,
      first,
      last,
      after: micros(last.occurredAt) - start,
      chunks: total(run, (event) => event.chunkCount),
      bytes: total(run, (event) => event.chunkBytes),
    }
  })
}

function total(
  events: ReadonlyArray<InvocationEvent>,
  of: (event: InvocationEvent) => number | undefined,
): number {
  return events.reduce((sum, event) => sum + (of(event) ?? 0), 0)
}
