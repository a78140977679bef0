/** Asks for the Trace to compare with: one of the same Skill, or any by its id. */

import { useQuery } from "@tanstack/react-query"
import { useState } from "react"

import { PATTERNS, type InvocationRecord, type Trace } from "@/api/contract.gen"
import { read } from "@/api/queries"
import { Button } from "@/components/Button"
import { Dialog } from "@/components/Dialog"
import { Field, TextInput } from "@/components/Field"
import { Loaded } from "@/components/Loaded"
import { Time } from "@/components/Time"
import { duration, shortened } from "@/components/format"
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
    read("listInvocations", { path: { workspaceId }, query: { agentId, capability, limit: 20 } }),
  )
  return (
    <Loaded query={others} what="Traces">
      {({ items }) => {
        const roots = items.filter(
          (item) => item.parentInvocationId === undefined && item.traceId !== traceId,
        )
        if (roots.length === 0)
          return <p className="text-sm text-muted">There is no other one of this Skill.</p>
        return (
          <ul className="divide-y divide-line rounded-lg border border-line">
            {roots.map((each) => (
              <li key={each.invocationId}>
                <button
                  type="button"
                  className="flex w-full cursor-pointer items-center gap-3 px-3 py-2 text-left text-sm hover:bg-hover"
                  onClick={() => onChoose(each.traceId)}
                >
                  <StateBadge state={stateOf(each, Date.now())} />
                  <span className="id-text">{shortened(each.traceId)}</span>
                  <span className="ml-auto text-muted tabular-nums">
                    {each.latencyMs === undefined ? "" : duration(each.latencyMs)}
                  </span>
                  <Time at={each.createdAt} />
                </button>
              </li>
            ))}
          </ul>
        )
      }}
    </Loaded>
  )
}
