/** How a run ended, and what to do when it failed. */

import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"

import type { InvocationRecordStatus } from "@/api/contract.gen"
import type { Problem } from "@/api/problem"
import { read } from "@/api/queries"
import { Badge } from "@/components/Badge"
import { Button } from "@/components/Button"
import { Loaded } from "@/components/Loaded"
import { ProblemNotice } from "@/components/Problems"
import { Sentence } from "@/components/Sentence"
import { StateBadge } from "@/domain/StateBadge"
import type { Outcome, Run } from "@/features/playground/run"

/** What is invoked. */
export interface InvokedSkill {
  readonly agentId: string
  readonly capability: string
}

interface OutcomeNoticeProps {
  readonly workspaceId: string
  readonly invoked: InvokedSkill
  readonly run: Run
}

export function RunState({ run: { outcome } }: { readonly run: Run }) {
  if (outcome === undefined) return <StateBadge state="running" />
  if (outcome.state === "refused")
    return <Badge tone="bad">{isUnknown(outcome) ? "Acceptance unknown" : "Not accepted"}</Badge>
  if (outcome.state === "invalid") return <Badge tone="bad">Invalid stream</Badge>
  if (outcome.state === "stopped") return <Badge tone="note">Stopped by you</Badge>
  return <StateBadge state={outcome.state} />
}

export function OutcomeNotice({ workspaceId, invoked, run }: OutcomeNoticeProps) {
  const { outcome } = run
  if (outcome === undefined || outcome.state === "succeeded") return null
  if (outcome.state === "stopped") return <Stopped workspaceId={workspaceId} invoked={invoked} run={run} />
  if ("problem" in outcome) {
    return (
      <ProblemNotice
        title={
          isUnknown(outcome) ? "It is not known whether the Invocation was accepted" : TITLES[outcome.state]
        }
        problem={outcome.problem}
        withoutViolations
        action={<WayOn workspaceId={workspaceId} problem={outcome.problem} />}
      />
    )
  }
  return (
    <Box role="alert" tone="bad">
      <p className="font-semibold">{TITLES[outcome.state]}</p>
      <p>
        <Sentence text={outcome.reason} />
      </p>
      <p>
        <span className="font-medium">Next step: </span>
        Open the Invocation to see how it ended. Its output is lost, and the Agent may have done the work:
        find that out before you run it again.
      </p>
    </Box>
  )
}

/** Not a refusal: an Invocation may exist, and a second run may do the work twice. */
function isUnknown(outcome: Outcome): boolean {
  return "problem" in outcome && outcome.problem.reason === "acceptance_unknown"
}

const TITLES: Readonly<Record<Exclude<Outcome["state"], "succeeded" | "stopped">, string>> = {
  refused: "The Invocation was not accepted",
  failed: "The Invocation failed",
  canceled: "The Invocation was canceled",
  timed_out: "The Invocation timed out",
  interrupted: "The connection was lost: the output is incomplete",
  invalid: "The stream is invalid: do not rely on the output",
}

function WayOn({ workspaceId, problem }: { readonly workspaceId: string; readonly problem: Problem }) {
  const { code, invocationId, traceId } = problem
  if (code === "DEPENDENCY_ERROR" && invocationId === undefined && traceId !== undefined) {
    return (
      <Button asChild size="small">
        <Link to="/workspaces/$workspaceId/traces/$traceId" params={{ workspaceId, traceId }}>
          Check whether a record exists
        </Link>
      </Button>
    )
  }
  if (code === undefined || !SETTLED_IN_WORKSPACE.has(code)) return null
  return (
    <Button asChild size="small">
      <Link to="/workspaces/$workspaceId" params={{ workspaceId }}>
        Open the Workspace
      </Link>
    </Button>
  )
}

const SETTLED_IN_WORKSPACE: ReadonlySet<string> = new Set([
  "AGENT_NOT_INSTALLED",
  "INSTALLATION_DISABLED",
  "CAPABILITY_NOT_ALLOWED",
  "AGENT_DISABLED",
  "AGENT_RELEASE_SUSPENDED",
  "AGENT_RELEASE_REVOKED",
])

/** How far the clocks of this browser and of the platform may be apart. */
const CLOCKS_MILLISECONDS = 60_000

/** The caller has left; the Ledger shows how the Invocation ended. */
function Stopped({ workspaceId, invoked, run }: OutcomeNoticeProps) {
  return (
    <Box role="status" tone="note">
      <p className="font-semibold">You stopped it. The output is incomplete.</p>
      {run.correlation === undefined ? (
        <p>
          There was no answer yet, so its id is not known here.{" "}
          <Link
            to="/workspaces/$workspaceId/invocations"
            params={{ workspaceId }}
            search={{
              agent: invoked.agentId,
              capability: invoked.capability,
              since: new Date(run.startedAt - CLOCKS_MILLISECONDS).toISOString(),
            }}
            className="underline underline-offset-2"
          >
            Find it among the Invocations
          </Link>
        </p>
      ) : (
        <Recorded workspaceId={workspaceId} invocationId={run.correlation.invocationId} />
      )}
    </Box>
  )
}

const LOOK_MILLISECONDS = 400

function Recorded({
  workspaceId,
  invocationId,
}: {
  readonly workspaceId: string
  readonly invocationId: string
}) {
  const detail = useQuery({
    ...read("readInvocation", { path: { workspaceId, invocationId } }),
    refetchInterval: ({ state: { data, error } }) =>
      error !== null || (data !== undefined && isOver(data.invocation.status)) ? false : LOOK_MILLISECONDS,
  })
  return (
    <Loaded query={detail} what="Ledger record" loading={<p>Reading the Ledger…</p>}>
      {({ invocation }) => (
        <p className="flex items-center gap-2">
          The Ledger says <StateBadge state={invocation.status} />
        </p>
      )}
    </Loaded>
  )
}

function isOver(status: InvocationRecordStatus): boolean {
  return status !== "pending" && status !== "routing" && status !== "running"
}

interface BoxProps {
  readonly role: "alert" | "status"
  readonly tone: "bad" | "note"
  readonly children: ReactNode
}

function Box({ role, tone, children }: BoxProps) {
  const look = tone === "bad" ? "border-bad/40 bg-bad-soft" : "border-note/40 bg-note-soft"
  return (
    <div role={role} className={`space-y-1.5 rounded-lg border p-4 text-sm ${look}`}>
      {children}
    </div>
  )
}
