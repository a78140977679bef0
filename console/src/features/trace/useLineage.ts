/** The tree of a Trace with its open and closed branches; what is chosen is always in view. */

import { useMemo, useState } from "react"

import type { InvocationRecord } from "@/api/contract.gen"
import { ancestorsOf, lineageTree, rowsInView, type Branch } from "@/features/trace/lineage"

export interface Lineage {
  readonly tree: ReadonlyArray<Branch>
  /** Every row, the closed ones included. */
  readonly all: ReadonlyArray<Branch>
  readonly rows: ReadonlyArray<Branch>
  readonly closed: ReadonlySet<string>
  readonly close: (id: string, isClosed: boolean) => void
  /** Leaves roots and those they called. */
  readonly closeAll: () => void
  readonly openAll: () => void
}

const NONE: ReadonlySet<string> = new Set()

export function useLineage(records: ReadonlyArray<InvocationRecord>, chosen: string | undefined): Lineage {
  const [closed, setClosed] = useState(NONE)
  const [revealed, setRevealed] = useState(chosen)
  const tree = useMemo(() => lineageTree(records), [records])
  const all = useMemo(() => rowsInView(tree, NONE), [tree])
  const rows = useMemo(() => rowsInView(tree, closed), [tree, closed])
  if (revealed !== chosen) {
    setRevealed(chosen)
    const above = new Set(chosen === undefined ? [] : ancestorsOf(chosen, records))
    setClosed(new Set([...closed].filter((id) => !above.has(id))))
  }
  const close = (id: string, isClosed: boolean) =>
    setClosed((before) => {
      const next = new Set(before)
      if (isClosed) next.add(id)
      else next.delete(id)
      return next
    })
  const closeAll = () => {
    const below = all.filter(({ depth, children }) => depth > 0 && children.length > 0)
    setClosed(new Set(below.map(({ record }) => record.invocationId)))
  }
  return { tree, all, rows, closed, close, closeAll, openAll: () => setClosed(NONE) }
}
