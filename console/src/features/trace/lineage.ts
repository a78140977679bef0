/** The lineage of a Trace as a tree, and the rows of it that are in view when some branches are closed. */

import type { InvocationRecord } from "@/api/contract.gen"
import { grouped } from "@/components/groups"

export interface Branch {
  readonly record: InvocationRecord
  readonly children: ReadonlyArray<Branch>
  /** Roots are at 0. */
  readonly depth: number
  /** From 1, among those with the same parent. */
  readonly position: number
  readonly siblings: number
  /** All Invocations below this one. */
  readonly descendants: number
}

/** Roots and children in the order they were created; a record whose parent is not there counts as a root. */
export function lineageTree(records: ReadonlyArray<InvocationRecord>): ReadonlyArray<Branch> {
  const known = new Set(records.map((record) => record.invocationId))
  const called = grouped(records, ({ parentInvocationId }) =>
    parentInvocationId !== undefined && known.has(parentInvocationId) ? parentInvocationId : undefined,
  )
  const branches = (parent: string | undefined, depth: number): ReadonlyArray<Branch> => {
    const found = [...(called.get(parent) ?? [])].sort(byCreation)
    return found.map((record, index) => {
      const children = branches(record.invocationId, depth + 1)
      const descendants = children.reduce((sum, child) => sum + 1 + child.descendants, 0)
      return { record, children, depth, position: index + 1, siblings: found.length, descendants }
    })
  }
  return branches(undefined, 0)
}

/** Depth first, as the tree is drawn; what is below a closed Invocation is left out. */
export function rowsInView(tree: ReadonlyArray<Branch>, closed: ReadonlySet<string>): ReadonlyArray<Branch> {
  return tree.flatMap((branch) =>
    closed.has(branch.record.invocationId) ? [branch] : [branch, ...rowsInView(branch.children, closed)],
  )
}

/** The ids above an Invocation, from its parent up. */
export function ancestorsOf(id: string, records: ReadonlyArray<InvocationRecord>): ReadonlyArray<string> {
  const parents = new Map(records.map((record) => [record.invocationId, record.parentInvocationId]))
  const found: string[] = []
  for (
    let above = parents.get(id);
    above !== undefined && !found.includes(above);
    above = parents.get(above)
  ) {
    found.push(above)
  }
  return found
}

function byCreation(a: InvocationRecord, b: InvocationRecord): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1
  return a.invocationId < b.invocationId ? -1 : 1
}
