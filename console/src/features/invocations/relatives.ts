/** Who called an Invocation and whom it called, found in the records of its Trace. */

import type { InvocationRecord } from "@/api/contract.gen"

type Related = Pick<InvocationRecord, "invocationId" | "parentInvocationId" | "createdAt">

interface Relatives<Record> {
  readonly parent: Record | undefined
  /** In the order they were called. */
  readonly children: ReadonlyArray<Record>
}

export function relativesOf<Record extends Related>(
  record: Related,
  trace: ReadonlyArray<Record>,
): Relatives<Record> {
  return {
    parent: trace.find((other) => other.invocationId === record.parentInvocationId),
    children: trace
      .filter((other) => other.parentInvocationId === record.invocationId)
      .sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1)),
  }
}
