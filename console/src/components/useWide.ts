/** Whether there is room for a row on one line. */

import { useSyncExternalStore } from "react"

const query = matchMedia("(min-width: 48rem)")

function subscribe(tell: () => void): () => void {
  query.addEventListener("change", tell)
  return () => query.removeEventListener("change", tell)
}

export function useWide(): boolean {
  return useSyncExternalStore(subscribe, () => query.matches)
}
