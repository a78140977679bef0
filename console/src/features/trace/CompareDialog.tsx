/** Asks for the Trace to compare with: one of the same Skill, or any by its id. */

import { useQuery } from "@tanstack/react-query"
import { useState } from "react"

import { PATTERNS, type InvocationRecord, type Trace, type TraceItem } from "@/api/contract.gen"
import { read } from "@/api/queries"
import { Button } from "@/components/Button"
import { Dialog } from "@/components/Dialog"
import { Field, TextInput } from "@/components/Field"
import { Loaded } from "@/components/Loaded"
import { Time } from "@/components/Time"
import { duration, plural, shortened } from "@/components/format"
import { useNow } from "@/components/useNow"
import { StateBadge } from "@/domain/StateBadge"
import { stateOf } from "@/domain/invocationState"

interface CompareDialogProps {
  readonly trace: Trace
  readonly open: boolean
  readonly onClose: () => void
  readonly onChoose: (traceId: string) => void
}

export function CompareDialog({ trace, open, onClose, onChoose }: CompareDialogProps) {
  const [root] = trace.invocations
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Compare with another Trace"
      description={root ? `Traces that began with ${root.capability} on ${root.targetAgentId}` : undefined}
    >
      <div className="space-y-4">
        <ById onChoose={onChoose} />
        {root ? <Others root={root} onChoose={onChoose} /> : null}
      </div>
    </Dialog>
  )
}

function ById({ onChoose }: Pick<CompareDialogProps, "onChoose">) {
  const [typed, setTyped] = useState("")
  const id = typed.trim()
  const isId = PATTERNS.traceId.test(id)
  return (
    <form
      className="flex items-end gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (isId) onChoose(id)
      }}
    >
      <Field
        label="Trace id"
        className="flex-1"
        error={id !== "" && !isId ? "A Trace id is 32 letters a to f and digits." : undefined}
      >
        {(control) => (
          <TextInput {...control} value={typed} onChange={(event) => setTyped(event.target.value)} />
        )}
      </Field>
      <Button type="submit" tone="primary" disabled={!isId}>
        Compare
      </Button>
    </form>
  )
}

interface OthersProps {
  readonly root: InvocationRecord
  readonly onChoose: (traceId: string) => void
}

function Others({ root, onChoose }: OthersProps) {
  const { workspaceId, targetAgentId: agentId, capability, traceId } = root
  const others = useQuery(
    read("listTraces", { path: { workspaceId }, query: { agentId, capability, limit: 20 } }),
  )
  return (
    <Loaded query={others} what="Traces">
      {({ items }) => {
        const found = items.filter((item) => item.traceId !== traceId)
        if (found.length === 0)
          return <p className="text-sm text-muted">There is no other one of this Skill.</p>
        return (
          <ul className="divide-y divide-line rounded-lg border border-line">
            {found.map((item) => (
              <Other key={item.traceId} item={item} onChoose={onChoose} />
            ))}
          </ul>
        )
      }}
    </Loaded>
  )
}

interface OtherProps {
  readonly item: TraceItem
  readonly onChoose: (traceId: string) => void
}

function Other({ item: { traceId, root, invocations, durationMs }, onChoose }: OtherProps) {
  const now = useNow(undefined)
  return (
    <li>
      <button
        type="button"
        className="flex w-full cursor-pointer flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 text-left text-sm hover:bg-hover"
        onClick={() => onChoose(traceId)}
      >
        <StateBadge state={stateOf(root, now)} />
        <span className="id-text">{shortened(traceId)}</span>
        <span className="ml-auto text-muted tabular-nums">
          {plural(invocations, "call")}, {duration(durationMs)}
        </span>
        <Time at={root.createdAt} />
      </button>
    </li>
  )
}
