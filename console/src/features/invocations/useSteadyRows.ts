/** Keeps rows in place while somebody reads them: new rows wait above. */

import { useCallback, useMemo, useRef, useState, type FocusEvent, type UIEvent } from "react"

import { newestFirst, type Placed } from "@/api/feed"

/** Of a list whose order is not that of time every row is shown at once. */
export function useSteadyRows<Row extends Placed>(rows: ReadonlyArray<Row>, isByTime: boolean) {
  /** The newest row that is shown, while new ones wait. */
  const [mark, setMark] = useState<Row>()
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
    () => (mark === undefined || !isByTime ? rows : rows.filter((row) => newestFirst(row, mark) >= 0)),
    [rows, mark, isByTime],
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
