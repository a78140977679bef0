/** The account's own Agents: which are meant by the filters, and what is to do next with each version. */

import type { OwnedAgent, OwnedAgentVersion } from "@/api/contract.gen"

export type NextStep = "continue" | "release" | "none"

/** Stands for the Agents that have no provider yet; no provider has this id. */
export const NO_PROVIDER = "-"

/** Those that own an Agent of the list, by name; `NO_PROVIDER` last. */
export function providersOf(agents: ReadonlyArray<OwnedAgent>): ReadonlyArray<string> {
  const ids = new Set(agents.map(({ providerId }) => providerId ?? NO_PROVIDER))
  const named = [...ids].filter((id) => id !== NO_PROVIDER).sort()
  return ids.has(NO_PROVIDER) ? [...named, NO_PROVIDER] : named
}

export function meantBy(
  agents: ReadonlyArray<OwnedAgent>,
  provider: string | undefined,
  text: string,
): ReadonlyArray<OwnedAgent> {
  const low = text.trim().toLowerCase()
  return agents.filter(
    ({ agentId, name, providerId = NO_PROVIDER }) =>
      (provider === undefined || providerId === provider) && `${agentId} ${name}`.toLowerCase().includes(low),
  )
}

/** A version that is not published is continued; one with a published or ended Release is opened. */
export function nextStep({ publicationStatus, release }: OwnedAgentVersion): NextStep {
  if (release !== null && ["published", "suspended", "revoked"].includes(release.state)) return "release"
  return publicationStatus === "disabled" ? "none" : "continue"
}
