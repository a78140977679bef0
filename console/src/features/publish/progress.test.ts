import { describe, expect, it } from "vitest"

import type { CatalogEntry, EndpointBinding, Release } from "@/api/contract.gen"
import { progressOf } from "@/features/publish/progress"

const entry = { publicationStatus: "draft" } as CatalogEntry
const binding = (bindingId: string, verificationStatus: EndpointBinding["verificationStatus"]) =>
  ({ bindingId, verificationStatus }) as EndpointBinding
const release = (members: Partial<Release>) => ({ endpointBindingId: "b", ...members }) as Release
const verifiedAt = "2026-03-02T10:00:00.000000Z"

function current(facts: Parameters<typeof progressOf>[0]) {
  const { steps } = progressOf(facts)
  return Object.entries(steps).find(([, state]) => state === "current")?.[0]
}

describe("the progress of a publication", () => {
  it("goes from the Card to the published Release, one step after the other", () => {
    expect(current({ bindings: [] })).toBe("card")
    expect(current({ entry, bindings: [] })).toBe("binding")
    expect(current({ entry, bindings: [binding("b", "pending")] })).toBe("proof")
    expect(current({ entry, bindings: [binding("b", "failed")] })).toBe("proof")
    expect(current({ entry, bindings: [binding("b", "verified")] })).toBe("release")
    const verified = release({ state: "verified", verifiedAt })
    expect(current({ entry, bindings: [binding("b", "verified")], release: verified })).toBe("publish")
    const published = release({ state: "published", verifiedAt, publishedAt: verifiedAt })
    expect(current({ entry, bindings: [binding("b", "verified")], release: published })).toBeUndefined()
  })

  it("waits for the proof when the Release was made before it, then for its verification", () => {
    const waiting = release({ state: "pending_verification" })
    expect(current({ entry, bindings: [binding("b", "pending")], release: waiting })).toBe("proof")
    expect(current({ entry, bindings: [binding("b", "verified")], release: waiting })).toBe("release")
  })

  it("counts the Release's own Binding, else a verified one, else the newest", () => {
    const bindings = [binding("new", "pending"), binding("proven", "verified"), binding("b", "failed")]
    expect(progressOf({ entry, bindings }).binding?.bindingId).toBe("proven")
    expect(progressOf({ entry, bindings, release: release({}) }).binding?.bindingId).toBe("b")
    expect(progressOf({ entry, bindings: bindings.slice(0, 1) }).binding?.bindingId).toBe("new")
  })

  it("ends for good when the Release is suspended or revoked, or the Card disabled", () => {
    const revoked = release({ state: "revoked", verifiedAt })
    expect(progressOf({ entry, bindings: [], release: revoked }).ended).toBe("revoked")
    expect(progressOf({ entry: { ...entry, publicationStatus: "disabled" }, bindings: [] }).ended).toBe(
      "disabled",
    )
  })
})
