/** Looks for an id in Workspaces: the open one first, then others, and never in more than twenty. */

import type { IdKind } from "@/features/find/meaning"
import { call } from "@/api/http"
import { isAbsent } from "@/api/problem"

export const MAX_WORKSPACES = 20
const AT_ONCE = 5

/** What belongs to one Workspace and does not say to which. */
export type Recorded = Extract<IdKind, "invocation" | "trace" | "installation">

export interface Sighting {
  /** Where it is; absent when it is in none of those that were asked. */
  readonly workspaceId?: string
  /** The Agent of an Installation. */
  readonly agentId?: string
  /** How many Workspaces said that it is not theirs. */
  readonly asked: number
  /** Why others could not be asked. */
  readonly problem?: unknown
}

type Ask = (workspaceId: string, signal: AbortSignal) => Promise<{ readonly agentId?: string } | undefined>

/** In their order, so that the open one wins; a failure of one does not hide what another has. */
export async function lookUp(
  kind: Recorded,
  id: string,
  workspaceIds: ReadonlyArray<string>,
  signal: AbortSignal,
  ask: Ask = asking(kind, id),
): Promise<Sighting> {
  const places = [...new Set(workspaceIds)].slice(0, MAX_WORKSPACES)
  let asked = 0
  let problem: unknown
  for (const batch of batches(places)) {
    const answers = await Promise.allSettled(batch.map((workspaceId) => ask(workspaceId, signal)))
    signal.throwIfAborted()
    for (const [at, answer] of answers.entries()) {
      if (answer.status === "rejected") problem ??= answer.reason
      else if (answer.value !== undefined) return { workspaceId: batch[at], ...answer.value, asked }
      else asked += 1
    }
  }
  return { asked, problem }
}

/** The open Workspace alone: nearly always it is there. */
function* batches(places: ReadonlyArray<string>): Generator<ReadonlyArray<string>> {
  yield places.slice(0, 1)
  for (let from = 1; from < places.length; from += AT_ONCE) yield places.slice(from, from + AT_ONCE)
}

function asking(kind: Recorded, id: string): Ask {
  return async (workspaceId, signal) => {
    try {
      return await READS[kind](workspaceId, id, signal)
    } catch (failure) {
      if (isAbsent(failure)) return undefined
      throw failure
    }
  }
}

const READS: Readonly<
  Record<
    Recorded,
    (workspaceId: string, id: string, signal: AbortSignal) => Promise<{ agentId?: string } | undefined>
  >
> = {
  invocation: async (workspaceId, invocationId, signal) => {
    await call("readInvocation", { path: { workspaceId, invocationId } }, signal)
    return {}
  },
  // One call of it is enough; a Trace may be large.
  trace: async (workspaceId, traceId, signal) => {
    const page = await call(
      "listInvocations",
      { path: { workspaceId }, query: { traceId, limit: 1 } },
      signal,
    )
    return page.items.length === 0 ? undefined : {}
  },
  installation: async (workspaceId, installationId, signal) => {
    const { agentId } = await call("readInstallation", { path: { workspaceId, installationId } }, signal)
    return { agentId }
  },
}
