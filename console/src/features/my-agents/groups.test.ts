import { describe, expect, it } from "vitest"

import type { CatalogEntry } from "@/api/contract.gen"
import { byAgent, nextStep } from "@/features/my-agents/groups"

const entry = (agentId: string, version: string, members: Partial<CatalogEntry> = {}) =>
  ({ agentId, version, publicationStatus: "draft", release: null, ...members }) as CatalogEntry

describe("a provider's Agents", () => {
  it("keep the order of the list, versions with their Agent", () => {
    const groups = byAgent([entry("b", "2.0.0"), entry("a", "1.0.0"), entry("b", "1.0.0")])
    expect(groups.map(({ agentId, versions }) => [agentId, versions.map(({ version }) => version)])).toEqual([
      ["b", ["2.0.0", "1.0.0"]],
      ["a", ["1.0.0"]],
    ])
  })

  it("say what is next for each version", () => {
    expect(nextStep(entry("a", "1.0.0"))).toBe("continue")
    expect(nextStep(entry("a", "1.0.0", { release: { releaseId: "r", state: "verified" } }))).toBe("continue")
    expect(nextStep(entry("a", "1.0.0", { release: { releaseId: "r", state: "revoked" } }))).toBe("release")
    expect(nextStep(entry("a", "1.0.0", { publicationStatus: "disabled" }))).toBe("none")
  })
})
