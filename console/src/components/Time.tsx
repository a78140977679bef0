/** An instant: how long ago, with the exact time on hover, or the other way round. */

import { dateTime, relative } from "@/components/format"

export function Time({ at, exact = false }: { readonly at: string; readonly exact?: boolean }) {
  const [shown, title] = exact ? [dateTime(at), relative(at)] : [relative(at), dateTime(at)]
  return (
    <time dateTime={at} title={title} className="whitespace-nowrap tabular-nums">
      {shown}
    </time>
  )
}
