/** Keeps rows in place while somebody reads them: new rows wait above. */

import { useCallback, useMemo, useRef, useState, type FocusEvent, type UIEvent } from "react"

import type { InvocationRecord } from "@/api/contract.gen"
import { order } from "@/api/invocationFeed"

export function useSteadyRows(rows: ReadonlyArray<InvocationRecord>) {
  /** The newest row that is shown, while new ones wait. */
  const [mark, setMark] = useState<InvocationRecord>()
  const presence = useRef({ pointer: false, focus: false, scrolled: false })
  const scroller = useRef<HTMLElement>(null)
  const newest = rows[0]
  const note = useCallback(
    (what: keyof typeof presence.current, is: boolean) => {
      presence.current[what] = is
      const { pointer, focus, scrolled } = presence.current
      const attended = pointer || focus || scrolled
      setMark((before) => (attended ? (before ?? newest) : undefined))
    },
    [newest],
  )
  const shown = useMemo(
    () => (mark === undefined ? rows : rows.filter((row) => order(row, mark) >= 0)),
    [rows, mark],
  )
  const showWaiting = () => {
    scroller.current?.scrollTo({ top: 0 })
    presence.current.scrolled = false
    setMark(undefined)
  }
  const watch = {
    onPointerEnter: () => note("pointer", true),
    onPointerLeave: () => note("pointer", false),
    onFocus: () => note("focus", true),
    onBlur: (event: FocusEvent<HTMLElement>) =>
      note("focus", event.currentTarget.contains(event.relatedTarget)),
    onScrollCapture: (event: UIEvent<HTMLElement>) => {
      scroller.current = event.target as HTMLElement
      note("scrolled", scroller.current.scrollTop > 0)
    },
  }
  return { shown, waiting: rows.length - shown.length, showWaiting, watch }
}
