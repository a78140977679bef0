/** Makes a token; its text is shown once. */

import { KeyRound } from "lucide-react"
import { useState } from "react"

import type { AccessTokenIssued } from "@/api/contract.gen"
import { useAction } from "@/api/queries"
import { Button } from "@/components/Button"
import { CopyButton } from "@/components/CopyButton"
import { Dialog } from "@/components/Dialog"
import { Field, Select, TextInput } from "@/components/Field"
import { Panel } from "@/components/Panel"
import { ProblemNotice } from "@/components/Problems"
import { Time } from "@/components/Time"

const DAYS = [1, 7, 30, 90] as const

export function NewToken() {
  const [label, setLabel] = useState("")
  const [days, setDays] = useState<number>(30)
  const [wasTried, setWasTried] = useState(false)
  const create = useAction("createMyToken", ["listMyTokens"])
  const isNamed = label.trim() !== ""
  const submit = () => {
    setWasTried(true)
    if (isNamed) create.mutate({ body: { label: label.trim(), days } })
  }
  const close = () => {
    create.reset() // the text is gone from memory, too
    setLabel("")
    setWasTried(false)
  }
  return (
    <Panel title="New token">
      <form
        noValidate
        aria-label="New token"
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <div className="flex flex-wrap items-start gap-3">
          <Field
            label="Name"
            hint="To recognise it by, for example the program that uses it."
            error={wasTried && !isNamed ? "Give the token a name." : undefined}
            className="w-full sm:w-80"
          >
            {(control) => (
              <TextInput
                {...control}
                maxLength={128}
                value={label}
                onChange={(event) => setLabel(event.target.value)}
              />
            )}
          </Field>
          <Field label="Expires after" className="w-36">
            {(control) => (
              <Select {...control} value={days} onChange={(event) => setDays(Number(event.target.value))}>
                {DAYS.map((each) => (
                  <option key={each} value={each}>
                    {each === 1 ? "1 day" : `${each} days`}
                  </option>
                ))}
              </Select>
            )}
          </Field>
          <Button type="submit" tone="primary" className="mt-6" busy={create.isPending}>
            <KeyRound aria-hidden />
            Create
          </Button>
        </div>
        {create.isError ? <ProblemNotice title="No token was made" problem={create.error} /> : null}
      </form>
      {create.data === undefined ? null : <Issued issued={create.data} days={days} onClose={close} />}
    </Panel>
  )
}

interface IssuedProps {
  readonly issued: AccessTokenIssued
  readonly days: number
  readonly onClose: () => void
}

function Issued({ issued: { label, token, expiresAt, createdAt, endsWith }, days, onClose }: IssuedProps) {
  const isCut = Date.parse(expiresAt) < Date.parse(createdAt) + days * 86_400_000 - 60_000
  return (
    <Dialog
      open
      onClose={onClose}
      title={`The token ${label}`}
      description="Copy it now. It is shown only here and cannot be read again."
      footer={
        <Button tone="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <div className="space-y-3 text-sm">
        <div className="flex items-center gap-2 rounded-md border border-line bg-sunken px-3 py-2">
          <code className="min-w-0 flex-1 id-text break-all">{token}</code>
          <CopyButton text={token} what="token" />
        </div>
        <p>
          It expires on <Time at={expiresAt} exact />
          {isCut ? ", earlier than you asked: no token lives longer than this session allows" : ""}.
        </p>
        {endsWith === undefined ? null : (
          <p className="text-muted">
            It ends with the session or token that made it, also when you sign out.
          </p>
        )}
      </div>
    </Dialog>
  )
}
