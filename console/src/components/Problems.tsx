/** Shows a failure: a sentence for the situation and the next step; what the contract calls it is under Details. */

import { ChevronRight, CircleAlert, RotateCw } from "lucide-react"
import type { ReactNode } from "react"

import { ERROR_CODES } from "@/api/contract.gen"
import { Problem } from "@/api/problem"
import { explained, nextStep, recoveryOf } from "@/api/recovery"
import { expectedOf, placeOf } from "@/api/violations"
import { Button } from "@/components/Button"
import { Facts } from "@/components/Facts"
import { Identifier } from "@/components/Identifier"
import { Sentence } from "@/components/Sentence"

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
  const sentence = typed?.code === undefined ? undefined : explained(typed)
  const message = problem instanceof Error ? problem.message : "Something unexpected happened."
  const next = sentence?.next ?? (typed === undefined ? undefined : nextStep(recoveryOf(typed)))
  return (
    <div role="alert" className="rounded-lg border border-bad/40 bg-bad-soft p-4 text-sm">
      <div className="flex gap-3">
        <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
        <div className="flex min-w-0 flex-1 flex-col gap-2">
          <div>
            {title ? <p className="font-semibold">{title}</p> : null}
            <p className={title ? undefined : "font-semibold"}>
              <Sentence text={sentence?.says ?? message} />
            </p>
          </div>
          {withoutViolations ? null : <Violations problem={typed} />}
          {next === undefined ? null : (
            <p>
              <span className="font-medium">Next step: </span>
              <Sentence text={next} />
            </p>
          )}
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
          {typed === undefined ? null : <ProblemDetails problem={typed} />}
        </div>
      </div>
    </div>
  )
}

/** For the provider, the operator or a search: the words of the contract, and the ids. */
export function ProblemDetails({ problem }: { readonly problem: Problem }) {
  const { code, reason, status, traceId, invocationId, violations } = problem
  if (code === undefined && status === undefined && traceId === undefined) return null
  return (
    <details className="group text-xs">
      <summary className="inline-flex cursor-pointer list-none items-center gap-1 text-muted hover:text-ink">
        <ChevronRight aria-hidden className="size-3.5 transition-transform group-open:rotate-90" />
        Details
      </summary>
      <div className="mt-2 space-y-2 rounded-md bg-surface/60 p-3">
        <Facts
          facts={[
            ["Code", code === undefined ? undefined : <Word key="">{code}</Word>],
            ["Reason", reason === undefined ? undefined : <Word key="">{reason}</Word>],
            ["Answer", status === undefined ? undefined : `HTTP ${status}`],
            ["Trace", traceId ? <Identifier key="" value={traceId} what="trace id" /> : undefined],
            [
              "Invocation",
              invocationId ? <Identifier key="" value={invocationId} what="invocation id" /> : undefined,
            ],
          ]}
        />
        {code === undefined ? null : <ContractWords problem={problem} />}
        {violations.length === 0 ? null : (
          <ul>
            {violations.map(({ pointer, rule }, index) => (
              <li key={index} className="id-text">
                {pointer === "" ? "(body)" : pointer} {rule}
              </li>
            ))}
          </ul>
        )}
      </div>
    </details>
  )
}

/** The fixed message of the code, what the reason adds, and the recovery table's next step. */
function ContractWords({ problem }: { readonly problem: Problem }) {
  const recovery = recoveryOf(problem)
  const message = problem.code === undefined ? "" : ERROR_CODES[problem.code].message
  return (
    <p className="text-muted">
      <Sentence text={[message, recovery.sentence, nextStep(recovery)].filter(Boolean).join(" ")} />
    </p>
  )
}

function Word({ children }: { readonly children: string }) {
  return <span className="id-text">{children}</span>
}

function Violations({ problem }: { readonly problem: Problem | undefined }) {
  if (problem === undefined || problem.violations.length === 0) return null
  return (
    <ul className="list-disc space-y-1 pl-4">
      {problem.violations.map(({ pointer, rule }, index) => (
        <li key={index} title={`${pointer} ${rule}`}>
          <span className="font-medium">{placeOf(pointer) || "The request"}</span>:{" "}
          {expectedOf({ pointer, rule })}.
        </li>
      ))}
    </ul>
  )
}
