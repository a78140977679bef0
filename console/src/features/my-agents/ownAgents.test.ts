import { describe, expect, it } from "vitest"

import type { OwnedAgent, OwnedAgentVersion } from "@/api/contract.gen"
import { meantBy, nextStep, NO_PROVIDER, providersOf } from "@/features/my-agents/ownAgents"

const agent = (agentId: string, providerId?: string) =>
  ({ agentId, name: `Name of ${agentId}`, providerId }) as OwnedAgent
const version = (members: Partial<OwnedAgentVersion> = {}) =>
  ({ version: "1.0.0", publicationStatus: "draft", release: null, ...members }) as OwnedAgentVersion

const AGENTS = [agent("b:two", "b"), agent("sketch"), agent("a:one", "a"), agent("a:other", "a")]
const ids = (agents: ReadonlyArray<OwnedAgent>) => agents.map(({ agentId }) => agentId)

describe("own Agents", () => {
  it("have known providers to choose from, and perhaps none", () => {
    expect(providersOf(AGENTS)).toEqual(["a", "b", NO_PROVIDER])
    expect(providersOf([])).toEqual([])
  })

  it("are narrowed by provider and text, in the order of the list", () => {
    expect(ids(meantBy(AGENTS, undefined, ""))).toEqual(["b:two", "sketch", "a:one", "a:other"])
    expect(ids(meantBy(AGENTS, "a", ""))).toEqual(["a:one", "a:other"])
    expect(ids(meantBy(AGENTS, NO_PROVIDER, ""))).toEqual(["sketch"])
    expect(ids(meantBy(AGENTS, undefined, " NAME OF a:o"))).toEqual(["a:one", "a:other"])
  })

  it("say what is next for each version", () => {
    expect(nextStep(version())).toBe("continue")
    expect(nextStep(version({ release: { releaseId: "r", state: "verified" } }))).toBe("continue")
    expect(nextStep(version({ release: { releaseId: "r", state: "revoked" } }))).toBe("release")
    expect(nextStep(version({ publicationStatus: "disabled" }))).toBe("none")
  })
})
