/** A provider's Card versions, Agent by Agent, and what is to do next with each. */

import type { CatalogEntry } from "@/api/contract.gen"

export interface OwnAgent {
  readonly agentId: string
  /** Newest registration first, as the list has them. */
  readonly versions: ReadonlyArray<CatalogEntry>
}

export type NextStep = "continue" | "release" | "none"

/** In the order in which the Agents first appear. */
export function byAgent(entries: ReadonlyArray<CatalogEntry>): ReadonlyArray<OwnAgent> {
  const agents = new Map<string, CatalogEntry[]>()
  for (const entry of entries) {
    const known = agents.get(entry.agentId)
    if (known === undefined) agents.set(entry.agentId, [entry])
    else known.push(entry)
  }
  return [...agents].map(([agentId, versions]) => ({ agentId, versions }))
}

/** A version that is not published is continued; one with a published or ended Release is opened. */
export function nextStep({ publicationStatus, release }: CatalogEntry): NextStep {
  if (release !== null && ["published", "suspended", "revoked"].includes(release.state)) return "release"
  return publicationStatus === "disabled" ? "none" : "continue"
}
