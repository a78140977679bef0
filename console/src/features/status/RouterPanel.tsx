/** The Router that answered the Control Plane: its watch, its schema work, what waits for the Ledger, and what is wrong. */

import { CircleX, TriangleAlert } from "lucide-react"

import type { HealthRouter } from "@/api/contract.gen"
import { Badge, type Tone } from "@/components/Badge"
import { cn } from "@/components/classes"
import { count, duration, plural } from "@/components/format"
import { Panel } from "@/components/Panel"
import { useNow } from "@/components/useNow"
import { concernsOf, factsToWrite, type Concern } from "@/features/status/routers"

const STATES: Readonly<Record<HealthRouter["status"], readonly [label: string, tone: Tone]>> = {
  ok: ["Ready", "ok"],
  not_ready: ["Not ready", "bad"],
  unavailable: ["Unavailable", "bad"],
}
const WATCHES = { live: "Live", initializing: "Starting", lost: "Lost" } as const
const NOW_MILLISECONDS = 5000

export function RouterPanel({ routers }: { readonly routers: ReadonlyArray<HealthRouter> }) {
  const now = useNow(NOW_MILLISECONDS)
  return (
    <Panel
      title="Routers"
      description="What the Router that answered says of itself. Behind a balancer there may be others, and another one may answer next."
      padded={false}
    >
      <ul className="divide-y divide-line">
        {routers.map((router, place) => (
          <RouterItem key={router.instanceId ?? place} router={router} now={now} />
        ))}
      </ul>
    </Panel>
  )
}

function RouterItem({ router, now }: { readonly router: HealthRouter; readonly now: number }) {
  const [label, tone] = STATES[router.status]
  const concerns = concernsOf(router, now)
  return (
    <li className="space-y-3 p-4">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="font-semibold">Router</h3>
        {router.instanceId === undefined ? null : (
          <code className="id-text text-muted" title="Made at random at each start of the Router">
            {router.instanceId}
          </code>
        )}
        <Badge tone={tone}>{label}</Badge>
      </div>
      <Measures router={router} />
      {concerns.length === 0 ? null : <Concerns concerns={concerns} />}
    </li>
  )
}

function Measures({ router: { topology, schemaWork, facts, sequence } }: { readonly router: HealthRouter }) {
  if (topology === undefined || schemaWork === undefined || facts === undefined) return null
  const [waiting, note] = factsToWrite(facts)
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3 text-sm lg:grid-cols-4">
      <Measure
        name="Topology watch"
        value={WATCHES[topology.state]}
        note={
          topology.ageMs === undefined ? "no message yet" : `last message ${duration(topology.ageMs)} ago`
        }
        isBad={topology.state === "lost"}
      />
      <Measure
        name="Schema work"
        value={`${schemaWork.running} of ${schemaWork.processes} busy`}
        note={schemaWork.waiting === 0 ? "nothing waits" : `${count(schemaWork.waiting)} waiting`}
      />
      <Measure
        name="Facts to write"
        value={waiting === 0 ? "None" : count(waiting)}
        note={note}
        isBad={waiting > 0}
      />
      <Measure
        name="Numbering of events"
        value={sequence === undefined ? "Not here" : `${duration(sequence.lagMs)} behind`}
        note={sequence === undefined ? "one Router does it for all" : "usually below 2 s"}
      />
    </dl>
  )
}

interface MeasureProps {
  readonly name: string
  readonly value: string
  readonly note: string
  readonly isBad?: boolean
}

function Measure({ name, value, note, isBad = false }: MeasureProps) {
  return (
    <div className="min-w-0">
      <dt className="text-muted">{name}</dt>
      <dd className={cn("font-medium tabular-nums", isBad && "text-bad")}>{value}</dd>
      <dd className="text-xs text-muted tabular-nums">{note}</dd>
    </div>
  )
}

function Concerns({ concerns }: { readonly concerns: ReadonlyArray<Concern> }) {
  return (
    <ul aria-label={plural(concerns.length, "finding")} className="space-y-1.5 text-sm">
      {concerns.map(({ tone, says }) => {
        const Icon = tone === "bad" ? CircleX : TriangleAlert
        return (
          <li key={says} className="flex gap-2">
            <Icon
              aria-hidden
              className={cn("mt-0.5 size-4 shrink-0", tone === "bad" ? "text-bad" : "text-warn")}
            />
            <span>{says}</span>
          </li>
        )
      })}
    </ul>
  )
}
