/** The current time, updated at an interval or, without one, fixed. */

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
