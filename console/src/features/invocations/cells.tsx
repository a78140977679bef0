/** What the rows of both lists are made of. */

import type { ReactNode } from "react"

import { duration } from "@/components/format"

/** The table takes the height that is left, where the page has one. */
export const FULL_HEIGHT = "max-h-[75dvh] lg:max-h-none lg:min-h-0 lg:flex-1"

/** A link that covers its whole row. */
export const ROW_LINK =
  "font-medium after:absolute after:inset-0 hover:text-accent-strong focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"

interface TwoLinesProps {
  readonly below: ReactNode
  readonly children: ReactNode
}

export function TwoLines({ below, children }: TwoLinesProps) {
  return (
    <div className="leading-tight">
      <div className="truncate">{children}</div>
      <div className="truncate text-xs text-muted">{below}</div>
    </div>
  )
}

interface SoFarProps {
  readonly since: string
  readonly now: number
  /** The grey number alone, where there is no room for the words. */
  readonly isShort: boolean
}

/** The words have a line of their own: a long time would leave them no room. */
export function SoFar({ since, now, isShort }: SoFarProps) {
  const text = <span className="text-muted">{duration(Math.max(0, now - Date.parse(since)))}</span>
  return isShort ? text : <TwoLines below="so far">{text}</TwoLines>
}
