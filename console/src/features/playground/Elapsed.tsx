/** How long a run takes, counted while it runs. */

import { useEffect, useState } from "react"

import { duration } from "@/components/format"
import type { Run } from "@/features/playground/run"

const TICK_MILLISECONDS = 100

export function Elapsed({ run }: { readonly run: Run }) {
  const [now, setNow] = useState(run.startedAt)
  const isOver = run.endedAt !== undefined
  useEffect(() => {
    if (isOver) return undefined
    const timer = setInterval(() => setNow(Date.now()), TICK_MILLISECONDS)
    return () => clearInterval(timer)
  }, [isOver])
  const spent = Math.max(0, (run.endedAt ?? now) - run.startedAt)
  return <span className="text-muted tabular-nums">{duration(spent)}</span>
}
