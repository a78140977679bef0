/** The facts of the Invocation that is looked at: Release, digest, events, self time, and how it ended. */

import type { UseQueryResult } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { ChevronLeft, ChevronRight } from "lucide-react"
import { useMemo } from "react"

import type { InvocationDetail, InvocationRecord } from "@/api/contract.gen"
import type { Problem } from "@/api/problem"
import { Button } from "@/components/Button"
import { CopyButton } from "@/components/CopyButton"
import { Loaded } from "@/components/Loaded"
import { Panel } from "@/components/Panel"
import { micros, span } from "@/components/instants"
import { EventList } from "@/domain/EventList"
import { InvocationFacts } from "@/domain/InvocationFacts"
import { InvocationOutcome } from "@/domain/InvocationOutcome"
import { stateOf } from "@/domain/invocationState"
import { lineageTree } from "@/features/trace/lineage"
import { selfSpans, total } from "@/features/trace/timing"
import { endOf } from "@/features/trace/timeAxis"

interface ChosenInvocationProps {
  readonly record: InvocationRecord
  readonly records: ReadonlyArray<InvocationRecord>
  readonly detail: UseQueryResult<InvocationDetail, Problem>
  readonly now: number
  /** The Invocations of the same Skill, to step through. */
  readonly alike: ReadonlyArray<InvocationRecord>
  readonly onChoose: (id: string) => void
}

export function ChosenInvocation({ record, records, detail, now, alike, onChoose }: ChosenInvocationProps) {
  const { workspaceId, invocationId } = record
  const state = stateOf(record, now)
  return (
    <Panel
      title={record.capability}
      actions={
        <>
          <CopyButton text={linkTo(invocationId)} what="link to this row" />
          <Button asChild size="small">
            <Link
              to="/workspaces/$workspaceId/invocations/$invocationId"
              params={{ workspaceId, invocationId }}
            >
              Open
            </Link>
          </Button>
        </>
      }
    >
      <div className="space-y-4">
        {alike.length > 1 ? <Stepper record={record} alike={alike} onChoose={onChoose} /> : null}
        <InvocationOutcome record={record} state={state} />
        <SelfTime record={record} records={records} now={now} />
        <div className="grid grid-cols-1 items-start gap-x-10 gap-y-4 md:max-xl:grid-cols-2">
          <InvocationFacts record={record} state={state} />
          <section aria-label="Events of the Invocation">
            <h3 className="mb-2 text-sm font-semibold">Events</h3>
            <Loaded query={detail} what="Events">
              {({ events }) => <EventList events={events} />}
            </Loaded>
          </section>
        </div>
      </div>
    </Panel>
  )
}

/** This address with the Invocation chosen. */
function linkTo(invocationId: string): string {
  const address = new URL(location.href)
  address.searchParams.set("invocation", invocationId)
  return address.href
}

type SelfTimeProps = Pick<ChosenInvocationProps, "record" | "records" | "now">

/** How much of the time it worked itself, and how much it waited for those it called. */
function SelfTime({ record, records, now }: SelfTimeProps) {
  const spans = useMemo(() => selfSpans(lineageTree(records), now), [records, now])
  const length = endOf(record, now) - micros(record.createdAt)
  const self = total(spans.get(record.invocationId))
  const share = length === 0 ? 1 : self / length
  return (
    <div className="text-sm">
      <p className="flex flex-wrap justify-between gap-x-3">
        <span>
          <span className="text-muted">Self time </span>
          <span className="font-medium tabular-nums">{span(self)}</span>
        </span>
        <span className="text-muted tabular-nums">
          {Math.round(share * 100)} % of {span(length)}
        </span>
      </p>
      <div aria-hidden className="mt-1 h-1.5 overflow-hidden rounded-full bg-hover">
        <div className="h-full bg-accent" style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  )
}

type StepperProps = Pick<ChosenInvocationProps, "record" | "alike" | "onChoose">

function Stepper({ record, alike, onChoose }: StepperProps) {
  const index = alike.findIndex((other) => other.invocationId === record.invocationId)
  const to = (step: number) => alike[index + step]?.invocationId
  const button = (step: number, label: string, Icon: typeof ChevronLeft) => (
    <Button
      size="iconSmall"
      aria-label={label}
      disabled={to(step) === undefined}
      onClick={() => onChoose(to(step) ?? record.invocationId)}
    >
      <Icon aria-hidden />
    </Button>
  )
  return (
    <div className="flex items-center gap-2 text-sm text-muted">
      {button(-1, "Previous call", ChevronLeft)}
      <span className="tabular-nums">
        Call {index + 1} of {alike.length}, failed and slow calls first
      </span>
      <span className="ml-auto">{button(1, "Next call", ChevronRight)}</span>
    </div>
  )
}
