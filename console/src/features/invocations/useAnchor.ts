/** The moment from which a named range counts back: that of its choice, so that a list which is looked at stays one list. */

import { useState } from "react"

import { useNow } from "@/components/useNow"
import type { Preset } from "@/domain/range"

export function useAnchor(last: Preset | undefined): number {
  const now = useNow(undefined)
  const [anchor, setAnchor] = useState({ last, at: now })
  if (anchor.last !== last) {
    const at = currentTime()
    setAnchor({ last, at })
    return at
  }
  return anchor.at
}

function currentTime(): number {
  return Date.now()
}
