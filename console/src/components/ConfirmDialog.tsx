/** Asks before an important action, names the consequence, and shows why it was refused. */

import { useState, type ReactNode } from "react"

import { Button } from "@/components/Button"
import { Dialog } from "@/components/Dialog"
import { Field, TextInput } from "@/components/Field"
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
  /** To be typed before the action is possible: for what nobody can undo. */
  readonly typed?: string
  /** What will happen. */
  readonly children: ReactNode
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const { open, onClose, title, action, onConfirm, busy, problem, danger = true, typed, children } = props
  const [entered, setEntered] = useState("")
  const isConfirmed = typed === undefined || entered.trim() === typed
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={title}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            tone={danger ? "danger" : "primary"}
            busy={busy}
            disabled={!isConfirmed}
            onClick={onConfirm}
          >
            {action}
          </Button>
        </>
      }
    >
      <div className="space-y-3 text-sm">
        {children}
        {typed === undefined ? null : (
          <Field
            label={
              <>
                Type <span className="id-text select-all">{typed}</span> to confirm
              </>
            }
          >
            {(control) => (
              <TextInput
                {...control}
                value={entered}
                onChange={({ target }) => setEntered(target.value)}
                onKeyDown={({ key }) => {
                  if (key === "Enter" && isConfirmed && !busy) onConfirm()
                }}
              />
            )}
          </Field>
        )}
        {problem ? <ProblemNotice problem={problem} /> : null}
      </div>
    </Dialog>
  )
}
