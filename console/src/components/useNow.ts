/** The present moment for what is shown, moved on at an interval or, without one, kept as it was. */

import { useEffect, useState } from "react"

export function useNow(everyMilliseconds: number | undefined): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (everyMilliseconds === undefined) return undefined
    const timer = setInterval(() => setNow(Date.now()), everyMilliseconds)
    return () => clearInterval(timer)
  }, [everyMilliseconds])
  return now
}
