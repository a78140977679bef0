/** Disabling a Card version, which cannot be undone. */

import type { CatalogEntry } from "@/api/contract.gen"
import { useAction } from "@/api/queries"
import { ConfirmDialog } from "@/components/ConfirmDialog"
import { useTell } from "@/components/Toasts"

export function DisableDialog({
  entry,
  onClose,
}: {
  readonly entry: CatalogEntry
  readonly onClose: () => void
}) {
  const disable = useAction("disableAgentCard", ["listProviderAgents", "readAgentOverview", "discoverAgents"])
  const tell = useTell()
  const { agentId, version } = entry
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`Disable ${entry.card.name} ${version}?`}
      action="Disable permanently"
      busy={disable.isPending}
      problem={disable.error}
      onConfirm={() =>
        disable.mutate(
          { path: { agentId, version } },
          {
            onSuccess: () => {
              tell(`${agentId} ${version} is disabled.`)
              onClose()
            },
          },
        )
      }
    >
      <p>
        Nobody finds or installs this version any more, and Workspaces that have it can no longer invoke it.
      </p>
      <p>
        You cannot undo this. To offer the Agent again, publish a new version. Its users install that one.
      </p>
    </ConfirmDialog>
  )
}
