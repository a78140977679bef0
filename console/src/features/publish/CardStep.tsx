/** Writing the Card: a form and its JSON side by side, two views of one value, checked before it is sent. */

import { getRouteApi } from "@tanstack/react-router"
import { useMemo, useRef, useState } from "react"

import type { AgentCard, JsonObject } from "@/api/contract.gen"
import { useAction } from "@/api/queries"
import { Button } from "@/components/Button"
import { Field, TextArea } from "@/components/Field"
import { ProblemNotice } from "@/components/Problems"
import { useTell } from "@/components/Toasts"
import { escaped } from "@/components/text/hidden"
import { plural } from "@/components/format"
import { CardForm } from "@/features/publish/CardForm"
import { cardViolations } from "@/features/publish/cardCheck"
import { parsedCard } from "@/features/publish/cardDraft"

const route = getRouteApi("/console/publish")

interface CardStepProps {
  readonly start: JsonObject
  readonly ownerKnown: boolean
}

export function CardStep({ start, ownerKnown }: CardStepProps) {
  const navigate = route.useNavigate()
  const tell = useTell()
  const [card, setCard] = useState(start)
  const [text, setText] = useState(() => written(start))
  const register = useAction("registerAgentCard", ["readAgentOverview", "listMyAgents"])
  const parsed = parsedCard(text)
  const fault = typeof parsed === "string" ? parsed : undefined
  const found = useMemo(() => cardViolations(card), [card])
  // What is missing is said once somebody has tried, not while the form is filled in for the first time.
  const [isChecked, setChecked] = useState(false)
  const form = useRef<HTMLDivElement>(null)
  const violations = isChecked && found.length > 0 ? found : (register.error?.violations ?? [])

  const edit = (next: JsonObject) => {
    setCard(next)
    setText(written(next))
  }
  const type = (next: string) => {
    setText(next)
    const value = parsedCard(next)
    if (typeof value !== "string") setCard(value)
  }
  const submit = () => {
    setChecked(found.length > 0)
    if (found.length > 0) {
      register.reset()
      // The first field that is wrong, once it is marked.
      requestAnimationFrame(() => form.current?.querySelector<HTMLElement>("[aria-invalid]")?.focus())
      return
    }
    register.mutate(
      { body: card as unknown as AgentCard },
      {
        onSuccess: (entry) => {
          tell(`${entry.agentId} ${entry.version} is registered.`)
          void navigate({ search: { agent: entry.agentId, version: entry.version } })
        },
      },
    )
  }
  return (
    <div ref={form} className="space-y-4">
      <p className="text-sm text-muted">
        A registered version never changes: a correction needs a new version number.
        {ownerKnown ? null : " The owner id must be the account you are signed in as."}
      </p>
      <div className="grid items-start gap-5 xl:grid-cols-2">
        <fieldset disabled={fault !== undefined} className="min-w-0 disabled:opacity-60">
          <legend className="sr-only">Card as a form</legend>
          <CardForm card={card} violations={violations} onChange={edit} />
        </fieldset>
        <Field
          label="Card as JSON"
          error={fault}
          hint={
            fault === undefined
              ? "The form follows what you type here."
              : "The form waits until this is JSON again."
          }
          className="xl:sticky xl:top-4"
        >
          {(control) => (
            <TextArea
              {...control}
              value={text}
              onChange={(event) => type(event.target.value)}
              className="h-[32rem] font-mono text-xs leading-5 xl:h-[min(calc(100dvh-8rem),60rem)]"
            />
          )}
        </Field>
      </div>
      {register.isError ? (
        <ProblemNotice title="The Card was not registered" problem={register.error} />
      ) : null}
      {isChecked && found.length > 0 ? (
        <p role="status" className="text-sm font-medium text-bad">
          Nothing was sent: correct {plural(found.length, "field")} first. Each says what is missing.
        </p>
      ) : null}
      <Button tone="primary" busy={register.isPending} disabled={fault !== undefined} onClick={submit}>
        Register the Card
      </Button>
    </div>
  )
}

function written(card: JsonObject): string {
  return escaped(JSON.stringify(card, null, 2))
}
