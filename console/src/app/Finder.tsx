/** The keys that open the one box and the list of shortcuts; both are loaded when they are first wanted. */

import { lazy, Suspense, useEffect } from "react"

const FindBox = lazy(() => import("@/features/find/FindBox").then((found) => ({ default: found.FindBox })))
const ShortcutsDialog = lazy(() =>
  import("@/features/find/ShortcutsDialog").then((found) => ({ default: found.ShortcutsDialog })),
)

export type Opened = "find" | "shortcuts" | undefined

interface FinderProps {
  readonly opened: Opened
  readonly onChange: (opened: Opened) => void
}

export function Finder({ opened, onChange }: FinderProps) {
  useKeys(onChange)
  const close = () => onChange(undefined)
  return (
    <Suspense>
      {opened === "find" ? <FindBox onClose={close} /> : null}
      {opened === "shortcuts" ? <ShortcutsDialog onClose={close} /> : null}
    </Suspense>
  )
}

function useKeys(onOpen: (opened: Opened) => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const wanted = wantedBy(event)
      // Another dialog asks for an answer first.
      if (wanted === undefined || document.querySelector("dialog[open]") !== null) return
      event.preventDefault()
      onOpen(wanted)
    }
    document.addEventListener("keydown", press)
    return () => document.removeEventListener("keydown", press)
  }, [onOpen])
}

function wantedBy(event: KeyboardEvent): Opened {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") return "find"
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return undefined
  return event.key === "/" ? "find" : event.key === "?" ? "shortcuts" : undefined
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return (
    target.isContentEditable || target.matches("input:not([type=checkbox],[type=radio]), textarea, select")
  )
}
