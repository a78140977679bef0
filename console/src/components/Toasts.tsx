/** Short confirmations that need no answer; failures stay where they happened and are never shown here. */

import { CircleCheck, X } from "lucide-react"
import { createContext, use, useCallback, useEffect, useMemo, useState, type ReactNode } from "react"

import { Button } from "@/components/Button"

interface Toast {
  readonly id: number
  readonly text: string
}

const SHOWN_MILLISECONDS = 5000
const ToastContext = createContext<(text: string) => void>(() => undefined)

/** `const tell = useTell(); tell("Installed.")` */
export function useTell(): (text: string) => void {
  return use(ToastContext)
}

export function Toasts({ children }: { readonly children: ReactNode }) {
  const [toasts, setToasts] = useState<ReadonlyArray<Toast>>([])
  const tell = useCallback((text: string) => {
    setToasts((shown) => [...shown, { id: (shown.at(-1)?.id ?? 0) + 1, text }])
  }, [])
  const remove = useCallback(
    (id: number) => setToasts((shown) => shown.filter((toast) => toast.id !== id)),
    [],
  )
  const list = useMemo(
    () => toasts.map((toast) => <ToastItem key={toast.id} toast={toast} remove={remove} />),
    [toasts, remove],
  )
  return (
    <ToastContext value={tell}>
      {children}
      <div
        role="status"
        className="pointer-events-none fixed right-4 bottom-4 z-50 flex max-w-[calc(100vw-2rem)] flex-col gap-2"
      >
        {list}
      </div>
    </ToastContext>
  )
}

function ToastItem({ toast, remove }: { readonly toast: Toast; readonly remove: (id: number) => void }) {
  useEffect(() => {
    const timer = setTimeout(() => remove(toast.id), SHOWN_MILLISECONDS)
    return () => clearTimeout(timer)
  }, [toast.id, remove])
  return (
    <div className="pointer-events-auto flex items-center gap-2 rounded-lg border border-line bg-raised py-2 pr-1.5 pl-3 text-sm shadow-raised">
      <CircleCheck aria-hidden className="size-4 shrink-0 text-ok" />
      <span className="min-w-0">{toast.text}</span>
      <Button tone="quiet" size="iconSmall" aria-label="Dismiss" onClick={() => remove(toast.id)}>
        <X aria-hidden />
      </Button>
    </div>
  )
}
