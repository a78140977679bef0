/** What came back from an Invocation, as it comes, and how it ended. */

import { Link } from "@tanstack/react-router"
import { FlaskConical, RotateCw } from "lucide-react"

import { Button } from "@/components/Button"
import { EmptyState } from "@/components/EmptyState"
import { Panel } from "@/components/Panel"
import { plural } from "@/components/format"
import { Elapsed } from "@/features/playground/Elapsed"
import { OutcomeNotice, RunState, type InvokedSkill } from "@/features/playground/OutcomeNotice"
import { Output } from "@/features/playground/Output"
import type { Run } from "@/features/playground/run"

interface RunPanelProps {
  readonly workspaceId: string
  readonly request: InvokedSkill
  readonly run: Run | undefined
  /** The same input, in a new Invocation. */
  readonly onAgain: (run: Run) => void
}

export function RunPanel({ workspaceId, request, run, onAgain }: RunPanelProps) {
  if (run === undefined) {
    return (
      <Panel title="Result">
        <EmptyState icon={<FlaskConical aria-hidden />} title="Nothing has run yet.">
          Fill in the input and press Run. The result is shown once and not stored. The Ledger stores when the
          Skill ran and how it ended.
        </EmptyState>
      </Panel>
    )
  }
  return (
    <Panel
      title="Result"
      actions={
        run.outcome === undefined ? null : (
          <Button size="small" onClick={() => onAgain(run)}>
            <RotateCw aria-hidden />
            Run again
          </Button>
        )
      }
    >
      <div className="space-y-4">
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1.5 text-sm">
          <span role="status">
            <RunState run={run} />
          </span>
          <Elapsed key={run.startedAt} run={run} />
          {run.stream && run.correlation !== undefined ? (
            <span className="text-muted">{plural(run.chunks.length, "chunk")}</span>
          ) : null}
          <RunLinks workspaceId={workspaceId} run={run} />
        </div>
        <OutcomeNotice workspaceId={workspaceId} invoked={request} run={run} />
        <Output run={run} />
      </div>
    </Panel>
  )
}

function RunLinks({ workspaceId, run }: { readonly workspaceId: string; readonly run: Run }) {
  if (run.correlation === undefined) return null
  const { invocationId, traceId } = run.correlation
  const look = "text-accent-strong underline underline-offset-2"
  return (
    <span className="ml-auto flex gap-4">
      <Link to="/workspaces/$workspaceId/traces/$traceId" params={{ workspaceId, traceId }} className={look}>
        Trace
      </Link>
      <Link
        to="/workspaces/$workspaceId/invocations/$invocationId"
        params={{ workspaceId, invocationId }}
        className={look}
      >
        Invocation
      </Link>
    </span>
  )
}
