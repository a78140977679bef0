/** Disabling a Card version, which cannot be undone. */

import { useAction } from "@/api/queries"
import { ConfirmDialog } from "@/components/ConfirmDialog"
import { useTell } from "@/components/Toasts"

interface DisableDialogProps {
  readonly agentId: string
  readonly name: string
  readonly version: string
  readonly onClose: () => void
}

export function DisableDialog({ agentId, name, version, onClose }: DisableDialogProps) {
  const disable = useAction("disableAgentCard", ["listMyAgents", "readAgentOverview", "discoverAgents"])
  const tell = useTell()
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`Disable ${name} ${version}?`}
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
