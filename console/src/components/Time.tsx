/** An instant: how long ago, with the exact time on hover, or the other way round; or both, one below the other. */

import { dateTime, relative, shortDateTime } from "@/components/format"

interface TimeProps {
  readonly at: string
  readonly exact?: boolean
}

export function Time({ at, exact = false }: TimeProps) {
  const [shown, title] = exact ? [dateTime(at), relative(at)] : [relative(at), dateTime(at)]
  return (
    <time dateTime={at} title={title} className="whitespace-nowrap tabular-nums">
      {shown}
    </time>
  )
}

interface TimeOfRowProps {
  readonly at: string
  readonly now: number
  /** Only how long ago, where there is no room for both. */
  readonly isShort?: boolean
}

/** For lists: the time of day, with the date unless it is today, and below it how long ago that was. */
export function TimeOfRow({ at, now, isShort = false }: TimeOfRowProps) {
  if (isShort) return <Time at={at} />
  return (
    <time dateTime={at} title={dateTime(at)} className="block leading-tight whitespace-nowrap tabular-nums">
      {shortDateTime(at, now)}
      <span className="block text-xs text-muted">{relative(at, now)}</span>
    </time>
  )
}
