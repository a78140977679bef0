/** Shows a failure: code, cause, trace, violations, and the next step. */

import { CircleAlert, RotateCw } from "lucide-react"
import type { ReactNode } from "react"

import { Problem } from "@/api/problem"
import { recoveryOf } from "@/api/recovery"
import { Button } from "@/components/Button"
import { Identifier } from "@/components/Identifier"
import { ViolationText } from "@/components/ViolationText"

interface ProblemNoticeProps {
  readonly problem: unknown
  /** What was tried: "The Agent was not installed." */
  readonly title?: string
  readonly onRetry?: () => void
  readonly action?: ReactNode
  /** Set when the violations are shown next to their fields. */
  readonly withoutViolations?: boolean
}

export function ProblemNotice({
  problem,
  title,
  onRetry,
  action,
  withoutViolations = false,
}: ProblemNoticeProps) {
  const typed = problem instanceof Problem ? problem : undefined
  const message = problem instanceof Error ? problem.message : "Something unexpected happened."
  const recovery = recoveryOf(typed)
  return (
    <div role="alert" className="rounded-lg border border-bad/40 bg-bad-soft p-4 text-sm">
      <div className="flex gap-3">
        <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
        <div className="flex min-w-0 flex-1 flex-col gap-2">
          <div>
            {title ? <p className="font-semibold">{title}</p> : null}
            <p className={title ? undefined : "font-semibold"}>{message}</p>
            {recovery?.sentence ? <p>{recovery.sentence}</p> : null}
          </div>
          {withoutViolations ? null : <Violations problem={typed} />}
          {recovery ? (
            <p>
              <span className="font-medium">Next step{recovery.owner ? ` (${recovery.owner})` : ""}: </span>
              {recovery.action}
            </p>
          ) : null}
          <ProblemFacts problem={typed} />
          {onRetry || action ? (
            <div className="flex flex-wrap gap-2 pt-1 empty:hidden">
              {onRetry ? (
                <Button size="small" onClick={onRetry}>
                  <RotateCw aria-hidden />
                  Try again
                </Button>
              ) : null}
              {action}
            </div>
          ) : null}
        </div>
      </div>
    </div>
  )
}

function ProblemFacts({ problem }: { readonly problem: Problem | undefined }) {
  if (problem === undefined) return null
  const { code, reason, status, traceId, invocationId } = problem
  return (
    <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-muted">
      {code ? <span className="id-text text-ink">{code}</span> : null}
      {reason ? <span className="id-text text-ink">{reason}</span> : null}
      {status === undefined ? null : <span>HTTP {status}</span>}
      {traceId ? (
        <span className="inline-flex items-center gap-1">
          Trace <Identifier value={traceId} what="trace id" />
        </span>
      ) : null}
      {invocationId ? (
        <span className="inline-flex items-center gap-1">
          Invocation <Identifier value={invocationId} what="invocation id" />
        </span>
      ) : null}
    </p>
  )
}

function Violations({ problem }: { readonly problem: Problem | undefined }) {
  if (problem === undefined || problem.violations.length === 0) return null
  return (
    <ul className="space-y-1">
      {problem.violations.map((violation, index) => (
        <li key={index}>
          <ViolationText violation={violation} />
        </li>
      ))}
    </ul>
  )
}
