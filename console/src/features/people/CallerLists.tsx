/** The callers of a Workspace, and those who no longer are. */

import { UserMinus } from "lucide-react"
import { useState } from "react"

import type { WorkspaceCaller } from "@/api/contract.gen"
import { useAction } from "@/api/queries"
import { Button } from "@/components/Button"
import { ConfirmDialog } from "@/components/ConfirmDialog"
import { Panel } from "@/components/Panel"
import { Time } from "@/components/Time"
import { useTell } from "@/components/Toasts"

interface CurrentCallersProps {
  readonly records: ReadonlyArray<WorkspaceCaller>
  readonly mayRemove: boolean
}

export function CurrentCallers({ records, mayRemove }: CurrentCallersProps) {
  const [asked, setAsked] = useState<WorkspaceCaller>()
  if (records.length === 0)
    return <p className="text-sm text-muted">Nobody but the owner uses this Workspace.</p>
  return (
    <>
      <ul aria-label="Callers" className="divide-y divide-line rounded-lg border border-line">
        {records.map((caller) => (
          <li key={caller.principalId} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-3 py-2">
            <span className="min-w-0 flex-1 basis-40 id-text font-medium break-words">
              {caller.principalId}
            </span>
            <span className="text-sm text-muted">
              added <Time at={caller.addedAt} />
            </span>
            {mayRemove ? (
              <Button
                size="small"
                aria-label={`Remove ${caller.principalId}`}
                onClick={() => setAsked(caller)}
              >
                <UserMinus aria-hidden />
                Remove
              </Button>
            ) : null}
          </li>
        ))}
      </ul>
      {asked === undefined ? null : <RemoveDialog caller={asked} onClose={() => setAsked(undefined)} />}
    </>
  )
}

function RemoveDialog({
  caller,
  onClose,
}: {
  readonly caller: WorkspaceCaller
  readonly onClose: () => void
}) {
  const { workspaceId, principalId } = caller
  const remove = useAction("removeCaller", ["listCallers"])
  const tell = useTell()
  return (
    <ConfirmDialog
      open
      title={`Remove ${principalId}?`}
      action="Remove"
      busy={remove.isPending}
      problem={remove.error}
      onClose={onClose}
      onConfirm={() =>
        remove.mutate(
          { path: { workspaceId, principalId } },
          {
            onSuccess: () => {
              tell(`${principalId} is no longer a caller of ${workspaceId}.`)
              onClose()
            },
          },
        )
      }
    >
      <p>
        From the answer on, <span className="id-text font-medium">{principalId}</span> can neither call Agents
        here nor read this Workspace. Calls that are running continue to their end.
      </p>
    </ConfirmDialog>
  )
}

export function FormerCallers({ records }: { readonly records: ReadonlyArray<WorkspaceCaller> }) {
  if (records.length === 0) return null
  return (
    <Panel title="Former callers" description="Records are kept.">
      <ul className="space-y-1 text-sm">
        {records.map(({ principalId, addedAt, removedAt }) => (
          <li key={`${principalId} ${addedAt}`} className="flex flex-wrap justify-between gap-x-4">
            <span className="min-w-0 id-text break-words">{principalId}</span>
            <span className="text-muted">
              <Time at={addedAt} exact /> to {removedAt === undefined ? null : <Time at={removedAt} exact />}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
