/** Suspending or revoking a Release, with what follows from it. */

import type { Release } from "@/api/contract.gen"
import { useAction } from "@/api/queries"
import { ConfirmDialog } from "@/components/ConfirmDialog"
import { useTell } from "@/components/Toasts"

export type Ending = "suspend" | "revoke"

const WORDS = {
  suspend: {
    operation: "suspendRelease",
    action: "Suspend",
    done: "suspended",
    consequences: [
      "New Invocations of this version are refused everywhere, at once. Running Invocations continue.",
      "You cannot resume it. To offer the Agent again, publish a new version. A suspended Release can still be revoked.",
    ],
  },
  revoke: {
    operation: "revokeRelease",
    action: "Revoke permanently",
    done: "revoked",
    consequences: [
      "New Invocations of this version are refused everywhere, at once, and nobody can install it.",
      "You cannot undo this. To offer the Agent again, publish a new version. Its users install that one.",
    ],
  },
} as const

interface EndDialogProps {
  readonly release: Release
  readonly ending: Ending
  readonly onClose: () => void
}

export function EndDialog({ release, ending, onClose }: EndDialogProps) {
  const { operation, action, done, consequences } = WORDS[ending]
  const end = useAction(operation, [
    "readRelease",
    "listReleases",
    "readAgentOverview",
    "listProviderAgents",
    "discoverAgents",
  ])
  const tell = useTell()
  const name = `${release.agentId} ${release.version}`
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`${ending === "suspend" ? "Suspend" : "Revoke"} the Release of ${name}?`}
      action={action}
      busy={end.isPending}
      problem={end.error}
      onConfirm={() =>
        end.mutate(
          { path: { releaseId: release.releaseId } },
          {
            onSuccess: () => {
              tell(`The Release of ${name} is ${done}.`)
              onClose()
            },
          },
        )
      }
    >
      {consequences.map((text) => (
        <p key={text}>{text}</p>
      ))}
    </ConfirmDialog>
  )
}
