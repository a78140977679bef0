/** The keyboard in the tree: arrows move, open and close; Home and End jump; Enter chooses. */

import type { KeyboardEvent } from "react"

import type { Branch } from "@/features/trace/lineage"

interface TreeKeys {
  readonly rows: ReadonlyArray<Branch>
  readonly active: number
  readonly closed: ReadonlySet<string>
  readonly onMove: (index: number) => void
  readonly onClose: (id: string, isClosed: boolean) => void
  readonly onChoose: (id: string) => void
}

const PAGE = 10

export function useTreeKeys({ rows, active, closed, onMove, onClose, onChoose }: TreeKeys) {
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
      onClose(branch.record.invocationId, false)
      return undefined
    },
    ArrowLeft: (branch) => {
      const { invocationId, parentInvocationId } = branch.record
      if (branch.children.length > 0 && !closed.has(invocationId)) {
        onClose(invocationId, true)
        return undefined
      }
      return rows.findIndex((row) => row.record.invocationId === parentInvocationId)
    },
  }
  return (event: KeyboardEvent) => {
    const branch = rows[active]
    if (branch === undefined || event.altKey || event.ctrlKey || event.metaKey) return
    if (event.key === "Enter" || event.key === " ") onChoose(branch.record.invocationId)
    else if (moves[event.key] === undefined) return
    event.preventDefault()
    const next = moves[event.key]?.(branch)
    if (next !== undefined && rows[next] !== undefined) onMove(next)
  }
}
