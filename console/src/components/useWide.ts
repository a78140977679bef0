/** Whether the window is at least so wide: 48 rem hold a row on one line, 80 rem two things side by side. */

import { useCallback, useSyncExternalStore } from "react"

export function useWide(rem: 48 | 80 = 48): boolean {
  const query = `(min-width: ${rem}rem)`
  const subscribe = useCallback(
    (tell: () => void) => {
      const list = matchMedia(query)
      list.addEventListener("change", tell)
      return () => list.removeEventListener("change", tell)
    },
    [query],
  )
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches)
}
