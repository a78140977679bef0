/** A modal dialog on the browser's own <dialog>: focus is kept inside, Escape closes, the page behind is inert. */

import { X } from "lucide-react"
import { useEffect, useId, useRef, type ReactNode, type RefObject } from "react"

import { Button } from "@/components/Button"
import { cn } from "@/components/classes"

interface DialogProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly title: ReactNode
  readonly description?: ReactNode
  readonly footer?: ReactNode
  readonly width?: "normal" | "wide"
  readonly children?: ReactNode
}

/** For a <dialog> that is modal for as long as it is rendered. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return element
}

export function Dialog({ open, ...rest }: DialogProps) {
  return open ? <OpenDialog {...rest} /> : null
}

function OpenDialog({
  onClose,
  title,
  description,
  footer,
  width = "normal",
  children,
}: Omit<DialogProps, "open">) {
  const element = useModal()
  const id = useId()
  return (
    // A click on the backdrop closes; Escape, which the browser handles, is the same for the keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/click-events-have-key-events
    <dialog
      ref={element}
      aria-labelledby={id}
      aria-describedby={description ? `${id}-text` : undefined}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        if (event.target === element.current) onClose()
      }}
      className={cn(
        "m-auto max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] overflow-hidden rounded-xl border border-line bg-raised p-0 text-ink shadow-raised",
        width === "wide" ? "max-w-3xl" : "max-w-lg",
      )}
    >
      <div className="flex max-h-[calc(100dvh-2rem)] flex-col">
        <div className="flex items-start justify-between gap-4 px-5 pt-4 pb-3">
          <div className="min-w-0">
            <h2 id={id} className="text-lg font-semibold">
              {title}
            </h2>
            {description ? (
              <p id={`${id}-text`} className="mt-0.5 text-sm text-muted">
                {description}
              </p>
            ) : null}
          </div>
          <Button tone="quiet" size="iconSmall" aria-label="Close" onClick={onClose}>
            <X aria-hidden />
          </Button>
        </div>
        <div className="min-h-0 overflow-y-auto px-5 pb-4">{children}</div>
        {footer ? (
          <div className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{footer}</div>
        ) : null}
      </div>
    </dialog>
  )
}
