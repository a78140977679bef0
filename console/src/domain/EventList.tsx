/** The Ledger events of one Invocation with their times. */

import type { InvocationEvent } from "@/api/contract.gen"
import { cn } from "@/components/classes"
import { bytes, dateTime, duration, plural } from "@/components/format"
import { clockTime, micros, span } from "@/components/instants"
import { eventGroups, type EventGroup } from "@/domain/eventGroups"
import { failureText } from "@/domain/invocationState"

type EventType = InvocationEvent["type"]

const LABELS: Readonly<Record<EventType, string>> = {
  created: "Created",
  routing: "Routing",
  started: "Started",
  stream: "Output",
  succeeded: "Succeeded",
  failed: "Failed",
  canceled: "Canceled",
  timed_out: "Timed out",
}

const DOTS: Readonly<Record<EventType, string>> = {
  created: "bg-control",
  routing: "bg-control",
  started: "bg-accent",
  stream: "bg-accent",
  succeeded: "bg-ok",
  failed: "bg-bad",
  canceled: "bg-note",
  timed_out: "bg-warn",
}

export function EventList({ events }: { readonly events: ReadonlyArray<InvocationEvent> }) {
  return (
    <ol aria-label="Events" className="text-sm">
      {eventGroups(events).map((group, index, all) => (
        <li key={group.first.eventId} className="relative flex gap-3 pb-3 last:pb-0">
          {index < all.length - 1 ? (
            <span aria-hidden className="absolute top-3 bottom-0 left-[3.5px] w-px bg-line-strong" />
          ) : null}
          <span aria-hidden className={cn("mt-1.5 size-2 shrink-0 rounded-full", DOTS[group.first.type])} />
          <Entry group={group} />
        </li>
      ))}
    </ol>
  )
}

function Entry({ group }: { readonly group: EventGroup }) {
  const { first, last, after } = group
  return (
    <div className="min-w-0 flex-1">
      <div className="flex flex-wrap items-baseline justify-between gap-x-3">
        <span className="font-medium">{LABELS[first.type]}</span>
        <span className="text-xs text-muted tabular-nums">
          <span>{after === 0 ? "+0" : `+${span(after)}`}</span>{" "}
          <time dateTime={last.occurredAt} title={dateTime(last.occurredAt)}>
            {clockTime(last.occurredAt)}
          </time>
        </span>
      </div>
      <Detail group={group} />
    </div>
  )
}

function Detail({ group }: { readonly group: EventGroup }) {
  const { first, last, chunks, events } = group
  if (first.type === "stream") {
    return (
      <details className="text-muted">
        <summary className="cursor-pointer">
          {plural(chunks, "chunk")}, {bytes(group.bytes)}
        </summary>
        <ul className="mt-1 max-h-48 space-y-0.5 overflow-y-auto text-xs tabular-nums">
          {events.map((event) => (
            <li key={event.eventId}>
              {clockTime(event.occurredAt)}: {plural(event.chunkCount ?? 0, "chunk")}, the last with index{" "}
              {event.chunkIndex}, {bytes(event.chunkBytes ?? 0)}
            </li>
          ))}
        </ul>
      </details>
    )
  }
  if (first.deadlineAt !== undefined) {
    const room = micros(first.deadlineAt) - micros(first.occurredAt)
    return <p className="text-muted">to be done within {span(room)}</p>
  }
  if (last.latencyMs === undefined) return null
  return (
    <p className="text-muted">
      after {duration(last.latencyMs)}
      {last.error ? (
        <code className="id-text">
          {" "}
          {failureText({ errorCode: last.error.code, reason: last.error.reason })}
        </code>
      ) : null}
    </p>
  )
}
