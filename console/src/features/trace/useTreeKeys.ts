/** The keyboard in the tree: arrows move, open and close; Home and End jump; Enter chooses; letters and signs do what the toolbar does. */

import type { KeyboardEvent } from "react"

import type { Branch } from "@/features/trace/lineage"
import type { Lineage } from "@/features/trace/useLineage"

interface TreeKeys {
  readonly lineage: Pick<Lineage, "rows" | "closed" | "close">
  readonly active: number
  readonly onMove: (index: number) => void
  readonly onChoose: (id: string) => void
  /** By the key, as `KeyboardEvent.key` has it; gets the active Invocation. */
  readonly shortcuts: Readonly<Record<string, (branch: Branch) => void>>
}

const PAGE = 10

export function useTreeKeys({ lineage, active, onMove, onChoose, shortcuts }: TreeKeys) {
  const { rows, closed, close } = lineage
  const moves: Readonly<Record<string, (branch: Branch) => number | undefined>> = {
    ArrowDown: () => active + 1,
    ArrowUp: () => active - 1,
    PageDown: () => Math.min(active + PAGE, rows.length - 1),
    PageUp: () => Math.max(active - PAGE, 0),
    Home: () => 0,
    End: () => rows.length - 1,
    ArrowRight: (branch) => {
      if (branch.children.length === 0) return undefined
      if (!closed.has(branch.record.invocationId)) return active + 1
      close(branch.record.invocationId, false)
      return undefined
    },
    ArrowLeft: (branch) => {
      const { invocationId, parentInvocationId } = branch.record
      if (branch.children.length > 0 && !closed.has(invocationId)) {
        close(invocationId, true)
        return undefined
      }
      return rows.findIndex((row) => row.record.invocationId === parentInvocationId)
    },
  }
  return (event: KeyboardEvent) => {
    const branch = rows[active]
    if (branch === undefined || event.altKey || event.ctrlKey || event.metaKey) return
    if (event.key === "Enter" || event.key === " ") onChoose(branch.record.invocationId)
    else if (shortcuts[event.key] !== undefined) shortcuts[event.key]?.(branch)
    else if (moves[event.key] === undefined) return
    event.preventDefault()
    const next = moves[event.key]?.(branch)
    if (next !== undefined && rows[next] !== undefined) onMove(next)
  }
}
