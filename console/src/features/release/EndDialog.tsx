/** Suspending or revoking a Release: what depends on it, what follows, and when the Router knows. */

import { useState } from "react"

import type { Release } from "@/api/contract.gen"
import { useAction } from "@/api/queries"
import { Button } from "@/components/Button"
import { ConfirmDialog } from "@/components/ConfirmDialog"
import { Dialog } from "@/components/Dialog"
import { Reach } from "@/features/release/Reach"
import { RouterLearns } from "@/features/release/RouterLearns"

export type Ending = "suspend" | "revoke"

const WORDS = {
  suspend: {
    operation: "suspendRelease",
    action: "Suspend permanently",
    done: "suspended",
    consequences: [
      "New Invocations of this version are refused everywhere, at once. Running Invocations continue.",
      "You cannot undo this: a suspended Release stays suspended. To offer the Agent again, publish a new version. A suspended Release can still be revoked.",
    ],
  },
  revoke: {
    operation: "revokeRelease",
    action: "Revoke permanently",
    done: "revoked",
    consequences: [
      "New Invocations of this version are refused everywhere, at once, and nobody can install it.",
      "You cannot undo this. To offer the Agent again, publish a new version. Its users upgrade to it.",
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
    "listMyAgents",
    "discoverAgents",
  ])
  const [answeredAt, setAnsweredAt] = useState<number>()
  const name = `${release.agentId} ${release.version}`
  if (end.data !== undefined && answeredAt !== undefined) {
    return (
      <Dialog
        open
        onClose={onClose}
        title={`The Release of ${name} is ${done}`}
        footer={
          <Button tone="primary" onClick={onClose}>
            Close
          </Button>
        }
      >
        <div className="space-y-3 text-sm">
          <RouterLearns release={end.data} answeredAt={answeredAt} />
        </div>
      </Dialog>
    )
  }
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={`${ending === "suspend" ? "Suspend" : "Revoke"} the Release of ${name}?`}
      typed={release.agentId}
      action={action}
      busy={end.isPending}
      problem={end.error}
      onConfirm={() =>
        end.mutate({ path: { releaseId: release.releaseId } }, { onSuccess: () => setAnsweredAt(Date.now()) })
      }
    >
      <Reach releaseId={release.releaseId} />
      {consequences.map((text) => (
        <p key={text}>{text}</p>
      ))}
    </ConfirmDialog>
  )
}
