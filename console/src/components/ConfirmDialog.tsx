/** Asks before an important action, names the consequence, and shows why it was refused. */

import type { ReactNode } from "react"

import { Button } from "@/components/Button"
import { Dialog } from "@/components/Dialog"
import { ProblemNotice } from "@/components/Problems"

interface ConfirmDialogProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly title: string
  /** The verb on the button: "Uninstall". */
  readonly action: string
  readonly onConfirm: () => void
  readonly busy: boolean
  readonly problem?: unknown
  readonly danger?: boolean
  /** What will happen. */
  readonly children: ReactNode
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { open, onClose, title, action, onConfirm, busy, problem, danger = true, children } = props
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={title}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone={danger ? "danger" : "primary"} busy={busy} onClick={onConfirm}>
            {action}
          </Button>
        </>
      }
    >
      <div className="space-y-3 text-sm">
        {children}
        {problem ? <ProblemNotice problem={problem} /> : null}
      </div>
    </Dialog>
  )
}
