import { describe, expect, it } from "vitest"

import type { CatalogEntry, Installation } from "@/api/contract.gen"
import { installationStateOf } from "@/features/workspace/installationState"

const INSTALLATION = {
  installedVersion: "1.0.0",
  acceptedPermissions: ["read"],
} as unknown as Installation

function entry(members: object): CatalogEntry {
  const skills = [
    { id: "look", requiredPermissions: ["read"] },
    { id: "send", requiredPermissions: ["read", "mail"] },
  ]
  return {
    version: "1.0.0",
    publicationStatus: "published",
    release: { state: "published" },
    card: { skills },
    ...members,
  } as unknown as CatalogEntry
}

describe("a pinned version", () => {
  it("names the Skills whose permissions were not accepted", () => {
    const { refusal, isHidden, unusable } = installationStateOf(INSTALLATION, [entry({})])
    expect([refusal, isHidden]).toEqual([undefined, false])
    expect(unusable).toMatchObject([{ skill: { id: "send" }, missing: ["mail"] }])
  })

  it("tells why it is refused, the Release before the Card", () => {
    const refusalOf = (members: object) => installationStateOf(INSTALLATION, [entry(members)]).refusal
    expect(refusalOf({ release: { state: "suspended" }, publicationStatus: "disabled" })).toBe(
      "AGENT_RELEASE_SUSPENDED",
    )
    expect(refusalOf({ release: { state: "revoked" } })).toBe("AGENT_RELEASE_REVOKED")
    expect(refusalOf({ publicationStatus: "disabled" })).toBe("AGENT_DISABLED")
  })

  it("that is no longer shown was disabled", () => {
    expect(installationStateOf(INSTALLATION, [entry({ version: "2.0.0" })])).toMatchObject({
      refusal: "AGENT_DISABLED",
      isHidden: true,
    })
  })
})
