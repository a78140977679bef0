/** Checks in the browser that the record of an Invocation was not changed, and says what that proves and what not. */

import { useMutation } from "@tanstack/react-query"
import { CircleCheck, CircleHelp, CircleX, ShieldCheck } from "lucide-react"
import { useState, type ReactNode } from "react"

import { call } from "@/api/http"
import { Problem } from "@/api/problem"
import { Button } from "@/components/Button"
import { Field, TextInput } from "@/components/Field"
import { ProblemNotice } from "@/components/Problems"
import { BundleWrong, checkBundle, type Checked } from "@/domain/ledgerCheck"
import { findingsOf, type Finding } from "@/features/invocations/ledgerFindings"

interface LedgerCheckProps {
  readonly workspaceId: string
  readonly invocationId: string
}

export function LedgerCheck({ workspaceId, invocationId }: LedgerCheckProps) {
  const [kept, setKept] = useState("")
  const check = useMutation<Checked>({
    mutationFn: async () =>
      checkBundle(await call("readInvocationBundle", { path: { workspaceId, invocationId } })),
  })
  if (!window.isSecureContext)
    return <p className="text-sm text-muted">Browsers check hashes only on pages served by HTTPS.</p>
  return (
    <form
      noValidate
      aria-label="Check the record"
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault()
        check.mutate()
      }}
    >
      <Field label="A head that you kept" hint="As SIZE:ROOT. Without one, only inner agreement is checked.">
        {(control) => (
          <div className="flex flex-wrap gap-2">
            <TextInput
              {...control}
              maxLength={100}
              className="w-full font-mono sm:w-80"
              value={kept}
              onChange={(event) => {
                setKept(event.target.value)
                check.reset()
              }}
            />
            <Button type="submit" busy={check.isPending}>
              <ShieldCheck aria-hidden />
              Check in this browser
            </Button>
          </div>
        )}
      </Field>
      {check.isSuccess ? <Report checked={check.data} kept={kept} /> : null}
      {check.isError ? <Failure error={check.error} /> : null}
    </form>
  )
}

function Failure({ error }: { readonly error: Error }) {
  if (error instanceof BundleWrong) return <Line kind="bad">The record was changed: {error.message}.</Line>
  if (error instanceof Problem && error.code === "PAYLOAD_TOO_LARGE")
    return (
      <Line kind="open">
        Nothing was checked: this record is larger than one answer. Save it with aop bundle, and check it with
        aop verify.
      </Line>
    )
  return <ProblemNotice title="Nothing was checked" problem={error} />
}

function Report({ checked, kept }: { readonly checked: Checked; readonly kept: string }) {
  const { verified, notVerified } = findingsOf(checked, kept)
  return (
    <div role="status" className="space-y-3">
      <h3 className="text-sm font-semibold">Verified in this browser</h3>
      <Lines findings={verified} />
      <h3 className="text-sm font-semibold">Not verified</h3>
      <Lines findings={notVerified} />
      <p className="text-sm text-muted">
        Head: <code className="wrap-anywhere">{`${String(checked.size)}:${checked.root}`}</code>. Keep it
        where nobody can change it.
      </p>
    </div>
  )
}

function Lines({ findings }: { readonly findings: ReadonlyArray<Finding> }) {
  return (
    <ul className="space-y-1">
      {findings.map(({ kind, says }) => (
        <Line key={says} kind={kind}>
          {says}
        </Line>
      ))}
    </ul>
  )
}

const ICONS = { ok: CircleCheck, bad: CircleX, open: CircleHelp } as const
const COLORS = { ok: "text-ok", bad: "text-bad", open: "text-muted" } as const

function Line({ kind, children }: { readonly kind: keyof typeof ICONS; readonly children: ReactNode }) {
  const Icon = ICONS[kind]
  return (
    <li className="flex list-none items-start gap-2 text-sm">
      <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${COLORS[kind]}`} />
      <span className="min-w-0 wrap-anywhere">{children}</span>
    </li>
  )
}
