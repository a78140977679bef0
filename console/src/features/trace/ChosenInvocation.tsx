/** The facts of the Invocation that is looked at: Release, digest, events, and how it ended. */

import type { UseQueryResult } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { ChevronLeft, ChevronRight } from "lucide-react"

import type { InvocationDetail, InvocationRecord } from "@/api/contract.gen"
import type { Problem } from "@/api/problem"
import { Button } from "@/components/Button"
import { Loaded } from "@/components/Loaded"
import { Panel } from "@/components/Panel"
import { cn } from "@/components/classes"
import { EventList } from "@/domain/EventList"
import { InvocationFacts } from "@/domain/InvocationFacts"
import { InvocationOutcome } from "@/domain/InvocationOutcome"
import { stateOf } from "@/domain/invocationState"

interface ChosenInvocationProps {
  readonly record: InvocationRecord
  readonly detail: UseQueryResult<InvocationDetail, Problem>
  readonly now: number
  /** The Invocations of the same Skill, to step through. */
  readonly alike: ReadonlyArray<InvocationRecord>
  readonly onChoose: (id: string) => void
  /** Facts and events side by side. */
  readonly wide: boolean
}

export function ChosenInvocation({ record, detail, now, alike, onChoose, wide }: ChosenInvocationProps) {
  const { workspaceId, invocationId } = record
  const state = stateOf(record, now)
  return (
    <Panel
      title={record.capability}
      actions={
        <Button asChild size="small">
          <Link
            to="/workspaces/$workspaceId/invocations/$invocationId"
            params={{ workspaceId, invocationId }}
          >
            Open
          </Link>
        </Button>
      }
    >
      <div className="space-y-4">
        {alike.length > 1 ? <Stepper record={record} alike={alike} onChoose={onChoose} /> : null}
        <InvocationOutcome record={record} state={state} />
        <div className={cn("grid grid-cols-1 items-start gap-x-10 gap-y-4", wide && "lg:grid-cols-2")}>
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
