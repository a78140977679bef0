/** The read of a whole Trace, renewed while any of its Invocations may still change. */

import { queryOptions } from "@tanstack/react-query"

import type { Trace } from "@/api/contract.gen"
import { wholeTrace } from "@/api/queries"
import { isLive } from "@/domain/invocationState"

const REFRESH_MILLISECONDS = 1000
/** A long Trace is several pages to read. */
const LONG = 1000
const REFRESH_LONG_MILLISECONDS = 5000

export function liveTrace(workspaceId: string, traceId: string) {
  return queryOptions({
    ...wholeTrace({ workspaceId, traceId }),
    refetchInterval: ({ state }) => refreshOf(state.data),
  })
}

function refreshOf(trace: Trace | undefined): number | false {
  const now = Date.now()
  if (trace?.invocations.some((record) => isLive(record, now)) !== true) return false
  return trace.invocations.length > LONG ? REFRESH_LONG_MILLISECONDS : REFRESH_MILLISECONDS
}
