/** The time that is left, second by second. */

import { useEffect, useState } from "react"

export function Countdown({ until, onEnd }: { readonly until: string; readonly onEnd: () => void }) {
  const end = new Date(until).getTime()
  const [left, setLeft] = useState(() => Math.max(0, end - Date.now()))
  useEffect(() => {
    const timer = setInterval(() => setLeft(Math.max(0, end - Date.now())), 500)
    return () => clearInterval(timer)
  }, [end])
  const over = left === 0
  useEffect(() => {
    if (over) onEnd()
  }, [over, onEnd])
  if (over) return <span className="text-sm font-medium text-bad">The challenge has expired.</span>
  const seconds = Math.ceil(left / 1000)
  return (
    <span role="timer" className="text-sm text-muted tabular-nums">
      {Math.floor(seconds / 60)}:{String(seconds % 60).padStart(2, "0")} left
    </span>
  )
}
