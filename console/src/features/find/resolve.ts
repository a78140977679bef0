/** What an id names, and its page. */

import { call } from "@/api/http"
import { isAbsent } from "@/api/problem"
import { plural } from "@/components/format"
import { lookUp, MAX_WORKSPACES, type Recorded, type Sighting } from "@/features/find/lookup"
import type { IdKind } from "@/features/find/meaning"
import type { Option, Results } from "@/features/find/option"

export interface Where {
  /** The open Workspace first. */
  readonly workspaceIds: ReadonlyArray<string>
  /** Under which the account has Agents. */
  readonly providerIds: ReadonlyArray<string>
}

type Resolve = (id: string, where: Where, signal: AbortSignal) => Promise<Results>

const HEADINGS: Readonly<Record<IdKind, string>> = {
  invocation: "Invocation",
  trace: "Trace",
  release: "Release",
  binding: "Binding",
  installation: "Installation",
  publicAgent: "Shared Agent",
}

export function resolve(of: IdKind, id: string, where: Where, signal: AbortSignal): Promise<Results> {
  return KINDS[of](id, where, signal)
}

function found(of: IdKind, option: Omit<Option, "key" | "kind">): Results {
  return { heading: HEADINGS[of], options: [{ key: of, kind: "record", ...option }] }
}

function nothing(of: IdKind, note: string, problem?: unknown): Results {
  return { heading: HEADINGS[of], options: [], note, problem }
}

/** A read that says by its absence that there is nothing for this account. */
function one(
  of: IdKind,
  reading: (id: string, signal: AbortSignal) => Promise<Omit<Option, "key" | "kind">>,
): Resolve {
  return async (id, _, signal) => {
    try {
      return found(of, await reading(id, signal))
    } catch (failure) {
      if (isAbsent(failure)) return nothing(of, `There is no ${HEADINGS[of]} with this id that you may see.`)
      throw failure
    }
  }
}

function recorded(
  of: Recorded,
  option: (id: string, sighting: Required<Pick<Sighting, "workspaceId">> & Sighting) => Option["go"],
): Resolve {
  return async (id, { workspaceIds }, signal) => {
    const sighting = await lookUp(of, id, workspaceIds, signal)
    const { workspaceId } = sighting
    if (workspaceId === undefined)
      return nothing(of, absence(of, sighting, workspaceIds.length), sighting.problem)
    return found(of, {
      title: `${HEADINGS[of]} in ${workspaceId}`,
      detail: id,
      go: option(id, { ...sighting, workspaceId }),
    })
  }
}

function absence(of: Recorded, { asked }: Sighting, all: number): string {
  const places = plural(asked, "Workspace")
  const rest = all > MAX_WORKSPACES ? " Open the Workspace where you expect it, and search again." : ""
  const refused = of === "trace" ? " A request that was refused before a call began leaves no Trace." : ""
  return `Looked in ${places}: no ${HEADINGS[of]} with this id.${refused}${rest}`
}

const KINDS: Readonly<Record<IdKind, Resolve>> = {
  invocation: recorded(
    "invocation",
    (invocationId, { workspaceId }) =>
      (navigate) =>
        navigate({
          to: "/workspaces/$workspaceId/invocations/$invocationId",
          params: { workspaceId, invocationId },
        }),
  ),
  trace: recorded(
    "trace",
    (traceId, { workspaceId }) =>
      (navigate) =>
        navigate({ to: "/workspaces/$workspaceId/traces/$traceId", params: { workspaceId, traceId } }),
  ),
  installation: recorded(
    "installation",
    (_, { workspaceId, agentId }) =>
      (navigate) =>
        navigate({ to: "/workspaces/$workspaceId", params: { workspaceId }, search: { agent: agentId } }),
  ),
  release: one("release", async (releaseId, signal) => {
    const { agentId, version } = await call("readRelease", { path: { releaseId } }, signal)
    return {
      title: `Release of ${agentId} ${version}`,
      detail: releaseId,
      go: (navigate) => navigate({ to: "/releases/$releaseId", params: { releaseId } }),
    }
  }),
  publicAgent: one("publicAgent", async (publicAgentId, signal) => {
    const share = await call("readPublicAgent", { path: { publicAgentId }, query: { limit: 1 } }, signal)
    return {
      title: share.releases[0]?.name ?? "Shared Agent without a published Release",
      detail: publicAgentId,
      go: (navigate) => navigate({ to: "/a/$publicAgentId", params: { publicAgentId } }),
    }
  }),
  binding: async (bindingId, { providerIds }, signal) => {
    for (const providerId of providerIds.slice(0, MAX_WORKSPACES)) {
      const answer = await bindingOf(providerId, bindingId, signal)
      if (answer !== undefined) return answer
    }
    return nothing("binding", "None of your providers has a Binding with this id.")
  },
}

/** A Binding is shown where it is worked on: on the page that publishes its version. */
async function bindingOf(
  providerId: string,
  bindingId: string,
  signal: AbortSignal,
): Promise<Results | undefined> {
  try {
    const { agentId, version, verificationStatus } = await call(
      "readEndpointBinding",
      { path: { providerId, bindingId } },
      signal,
    )
    return found("binding", {
      title: `Binding of ${agentId} ${version}`,
      detail: bindingId,
      mark: verificationStatus,
      go: (navigate) =>
        navigate({ to: "/publish", search: { agent: agentId, version, provider: providerId } }),
    })
  } catch (failure) {
    if (isAbsent(failure)) return undefined
    throw failure
  }
}
