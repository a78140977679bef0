/** The read of a whole Trace, renewed while any of its Invocations may still change. */

import { queryOptions } from "@tanstack/react-query"

import type { Trace } from "@/api/contract.gen"
import { wholeTrace } from "@/api/queries"
import { isLive } from "@/domain/invocationState"

const REFRESH_MILLISECONDS = 1000

export function liveTrace(workspaceId: string, traceId: string) {
  return queryOptions({
    ...wholeTrace({ workspaceId, traceId }),
    refetchInterval: ({ state }) => isGrowing(state.data) && REFRESH_MILLISECONDS,
  })
}

function isGrowing(trace: Trace | undefined): boolean {
  return trace?.invocations.some((record) => isLive(record, Date.now())) === true
}
