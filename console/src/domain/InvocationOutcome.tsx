/** How an Invocation ended when it did not succeed: what happened, whose turn it is, and the next action. */

import { CircleAlert, CircleSlash, Unplug } from "lucide-react"
import type { ReactNode } from "react"

import { ERROR_CODES, type ErrorCode, type InvocationRecord } from "@/api/contract.gen"
import { recoveryOf } from "@/api/recovery"
import { Sentence } from "@/components/Sentence"
import { cn } from "@/components/classes"
import { failureText, type InvocationState } from "@/domain/invocationState"

interface InvocationOutcomeProps {
  readonly record: Pick<InvocationRecord, "errorCode" | "reason">
  readonly state: InvocationState
}

const TITLES: Partial<Record<InvocationState, string>> = {
  failed: "The Invocation failed.",
  timed_out: "The Invocation timed out.",
  canceled: "The Invocation was canceled.",
}

/** Nothing for an Invocation that succeeded or still runs. */
export function InvocationOutcome({ record, state }: InvocationOutcomeProps) {
  if (state === "interrupted") return <Interrupted />
  if (record.errorCode === undefined) return null
  const code: ErrorCode = record.errorCode
  const recovery = recoveryOf({ code, reason: record.reason })
  const title = TITLES[state] ?? ""
  const { message } = ERROR_CODES[code]
  // "The invocation was canceled." says what the title says.
  const isRepeated = recovery.sentence === undefined && message.toLowerCase() === title.toLowerCase()
  return (
    <Notice
      tone={state === "canceled" ? "note" : state === "timed_out" ? "warn" : "bad"}
      icon={state === "canceled" ? CircleSlash : CircleAlert}
      title={title}
      next={<Sentence text={recovery.action} />}
      owner={recovery.owner}
    >
      {isRepeated ? null : (
        <>
          {message} <Sentence text={recovery.sentence} />{" "}
          <code className="id-text text-muted">{failureText(record)}</code>
        </>
      )}
    </Notice>
  )
}

function Interrupted() {
  return (
    <Notice
      tone="bad"
      icon={Unplug}
      title="The Invocation was interrupted."
      owner="the operator of the platform"
      next={
        <Sentence text="Start the Router that ran it again, or close it with `aop router close`: both record the end. Its output is lost. The Agent may have done the work: find that out before you invoke again." />
      }
    >
      Its deadline has passed, but the Ledger has no end for it. Nobody knows whether it succeeded.
    </Notice>
  )
}

const TONES = {
  bad: { box: "border-bad/40 bg-bad-soft", mark: "text-bad" },
  warn: { box: "border-warn/40 bg-warn-soft", mark: "text-warn" },
  note: { box: "border-note/40 bg-note-soft", mark: "text-note" },
} as const

interface NoticeProps {
  readonly tone: keyof typeof TONES
  readonly icon: typeof CircleAlert
  readonly title: string
  readonly owner: string | undefined
  readonly next: ReactNode
  readonly children: ReactNode
}

function Notice({ tone, icon: Mark, title, owner, next, children }: NoticeProps) {
  const { box, mark } = TONES[tone]
  return (
    <div className={cn("flex gap-3 rounded-lg border p-3 text-sm", box)}>
      <Mark aria-hidden className={cn("mt-0.5 size-4 shrink-0", mark)} />
      <div className="min-w-0 space-y-1">
        <p className="font-semibold">{title}</p>
        <p className="break-words empty:hidden">{children}</p>
        {next ? (
          <p className="break-words">
            <span className="font-medium">{owner ? `Next step for ${owner}` : "Next step"}: </span>
            {next}
          </p>
        ) : null}
      </div>
    </div>
  )
}
