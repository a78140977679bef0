/** Which units are ready, in words and at a glance. */

import { useQuery } from "@tanstack/react-query"
import { CircleCheck, CircleHelp, CircleX, LoaderCircle } from "lucide-react"

import type { HealthPlatformStatus } from "@/api/contract.gen"
import { read } from "@/api/queries"
import { Badge, type Tone } from "@/components/Badge"
import { ProblemNotice } from "@/components/Problems"
import { cn } from "@/components/classes"
import { RouterPanel } from "@/features/status/RouterPanel"

const REFRESH_MILLISECONDS = 5000

interface UnitState {
  readonly label: string
  readonly tone: Tone
  readonly meaning: string
}

type Unit = Exclude<keyof HealthPlatformStatus, "routers" | "ledgerHead">

const NAMES: Readonly<Record<Unit, string>> = {
  controlPlane: "Control Plane",
  router: "A2A Router",
  topology: "Topology watch",
}

const STATES: { readonly [Each in Unit]: Readonly<Record<HealthPlatformStatus[Each], UnitState>> } = {
  controlPlane: {
    ok: { label: "Ready", tone: "ok", meaning: "Publishing, discovery and Workspaces work." },
    unavailable: {
      label: "Not ready",
      tone: "bad",
      meaning: "It cannot use its database. Publishing, installing and invoking fail until it can.",
    },
  },
  router: {
    ok: { label: "Ready", tone: "ok", meaning: "The Router that answered accepts and records Invocations." },
    unavailable: {
      label: "Not ready",
      tone: "bad",
      meaning: "None answers. No Agent can be invoked and no Trace can be read.",
    },
  },
  topology: {
    live: {
      label: "Live",
      tone: "ok",
      meaning: "Suspended and revoked Releases are usually refused within 2 s.",
    },
    initializing: {
      label: "Starting",
      tone: "warn",
      meaning: "The Router reads the list of Releases.",
    },
    lost: {
      label: "Lost",
      tone: "bad",
      meaning: "The Router receives no changes of Releases. It asks the Control Plane at every call.",
    },
    unavailable: { label: "Unknown", tone: "bad", meaning: "The Router does not answer." },
  },
}

/** It answers, but its own readiness check fails. */
const NOT_READY: UnitState = {
  label: "Not ready",
  tone: "bad",
  meaning: "It answers, but something that it needs fails. What it is stands below.",
}
const WAITING: UnitState = { label: "Loading", tone: "neutral", meaning: "The Console waits for the answer." }
const UNKNOWN: UnitState = { label: "Unknown", tone: "bad", meaning: "The Gateway does not answer." }
const ICONS: Partial<Record<Tone, typeof CircleCheck>> = { ok: CircleCheck, bad: CircleX, warn: LoaderCircle }
const COLORS: Partial<Record<Tone, string>> = { ok: "text-ok", bad: "text-bad", warn: "text-warn" }

export function UnitStates() {
  const status = useQuery({ ...read("readPlatformStatus", {}), refetchInterval: REFRESH_MILLISECONDS })
  // An answer that could not be renewed says nothing about now.
  const known = status.isError ? undefined : status.data
  const units = Object.keys(NAMES) as Unit[]
  return (
    <div className="space-y-3">
      {status.isError ? (
        <ProblemNotice
          title="The platform's state could not be read"
          problem={status.error}
          onRetry={() => void status.refetch()}
        />
      ) : null}
      <ul aria-label="Units" className="grid gap-3 md:grid-cols-3">
        {units.map((unit) => (
          <UnitCard
            key={unit}
            name={NAMES[unit]}
            state={known === undefined ? (status.isError ? UNKNOWN : WAITING) : stateOfUnit(unit, known)}
          />
        ))}
      </ul>
      {known?.routers === undefined ? null : <RouterPanel routers={known.routers} />}
    </div>
  )
}

function stateOfUnit(unit: Unit, status: HealthPlatformStatus): UnitState {
  if (unit === "router" && status.routers?.some((router) => router.status === "not_ready")) return NOT_READY
  const states: Readonly<Record<string, UnitState>> = STATES[unit]
  return states[status[unit]] ?? UNKNOWN
}

function UnitCard({ name, state }: { readonly name: string; readonly state: UnitState }) {
  const Icon = ICONS[state.tone] ?? CircleHelp
  return (
    <li className="flex gap-3 rounded-lg border border-line bg-surface p-4">
      <Icon aria-hidden className={cn("mt-0.5 size-5 shrink-0 text-muted", COLORS[state.tone])} />
      <div className="min-w-0">
        <div className="flex flex-wrap items-center gap-2">
          <h2 className="font-semibold">{name}</h2>
          <Badge tone={state.tone}>{state.label}</Badge>
        </div>
        <p className="mt-0.5 text-sm text-muted">{state.meaning}</p>
      </div>
    </li>
  )
}
