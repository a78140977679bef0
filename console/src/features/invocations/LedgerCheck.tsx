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
      {check.isSuccess ? <Findings checked={check.data} kept={kept.trim()} /> : null}
      {check.isError ? <Failure error={check.error} /> : null}
    </form>
  )
}

function Failure({ error }: { readonly error: Error }) {
  if (error instanceof BundleWrong)
    return <Finding kind="bad">The record was changed: {error.message}.</Finding>
  return error instanceof Problem ? <ProblemNotice title="Nothing was checked" problem={error} /> : null
}

function Findings({ checked, kept }: { readonly checked: Checked; readonly kept: string }) {
  const { events, size, root, hasAuthorization } = checked
  return (
    <div role="status" className="space-y-3">
      <h3 className="text-sm font-semibold">Verified in this browser</h3>
      <ul className="space-y-1">
        <Finding kind="ok">
          All {events} events are unchanged, from the creation to the end, in a tree of {size} events.
        </Finding>
        <Finding kind="ok">The Card is the one that the events name.</Finding>
        {hasAuthorization ? (
          <Finding kind="ok">The Installation and Release that permitted the call are unchanged.</Finding>
        ) : null}
        {kept === `${String(size)}:${root}` ? (
          <Finding kind="ok">The head is the one that you kept.</Finding>
        ) : null}
        {kept !== "" && kept !== `${String(size)}:${root}` ? (
          <Finding kind={kept.startsWith(`${String(size)}:`) ? "bad" : "open"}>
            {kept.startsWith(`${String(size)}:`)
              ? "The head is not the one that you kept: history was changed."
              : "Your head has another size. A consistency proof of the operator connects the two."}
          </Finding>
        ) : null}
      </ul>
      <h3 className="text-sm font-semibold">Not verified</h3>
      <ul className="space-y-1">
        {kept === "" ? (
          <Finding kind="open">
            Whether everything was written anew: nothing was compared with a head that you kept.
          </Finding>
        ) : null}
        {hasAuthorization ? null : (
          <Finding kind="open">What permitted the call: this Invocation is older than that record.</Finding>
        )}
        <Finding kind="open">
          Input and result, which are not recorded, and whether the clock was right.
        </Finding>
      </ul>
      <p className="text-sm text-muted">
        Head: <code className="wrap-anywhere">{`${String(size)}:${root}`}</code>. Keep it where nobody can
        change it.
      </p>
    </div>
  )
}

const ICONS = { ok: CircleCheck, bad: CircleX, open: CircleHelp } as const
const COLORS = { ok: "text-ok", bad: "text-bad", open: "text-muted" } as const

function Finding({ kind, children }: { readonly kind: keyof typeof ICONS; readonly children: ReactNode }) {
  const Icon = ICONS[kind]
  return (
    <li className="flex list-none items-start gap-2 text-sm">
      <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${COLORS[kind]}`} />
      <span className="min-w-0 wrap-anywhere">{children}</span>
    </li>
  )
}
