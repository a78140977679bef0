import { describe, expect, it } from "vitest"

import type { Checked } from "@/domain/ledgerCheck"
import { findingsOf } from "@/features/invocations/ledgerFindings"

const ROOT = "0a".repeat(32)
const checked: Checked = { events: 4, hasAuthorization: true, size: 11, root: ROOT, sizes: [11, 12] }

function said(kept: string, changes: Partial<Checked> = {}): string {
  const { verified, notVerified } = findingsOf({ ...checked, ...changes }, kept)
  return [...verified, ...notVerified].map(({ kind, says }) => `${kind}: ${says}`).join("\n")
}

describe("what the check of a bundle says", () => {
  it("claims nothing of the Ledger, of changes or of a size without a head that was kept", () => {
    const text = said("")
    expect(text).toContain(
      "ok: All 4 events, from the creation to the end, lead to the root of the head that the Gateway",
    )
    expect(text).not.toContain("unchanged")
    expect(text).toContain("nothing was compared with a head that you kept")
    expect(text).toContain("the places of the events fit trees of 11 to 12 events")
  })

  it("claims it with that head, however its hex digits are written", () => {
    for (const kept of [`11:${ROOT}`, ` 11:${ROOT.toUpperCase()} `]) {
      expect(said(kept)).toContain(
        "ok: All 4 events, from the creation to the end, are in the Ledger of the head that you",
      )
      expect(said(kept)).not.toContain("nothing was compared")
    }
  })

  it("is that history was changed only for another root of the same size", () => {
    expect(said(`11:${"0b".repeat(32)}`)).toContain(
      "bad: The head is not the one that you kept: history was changed.",
    )
    for (const kept of [`12:${ROOT}`, "11:abc", "yes"]) {
      expect(said(kept)).not.toContain("history was changed")
      expect(said(kept)).toContain("nothing was compared with a head that you kept")
    }
    expect(said("11:abc")).toContain("open: Your head: it is not SIZE:ROOT")
    expect(said(`12:${ROOT}`)).toContain("open: Your head: it has another size.")
  })

  it("names what no browser sees, and what older Invocations do not have", () => {
    expect(said("")).toContain("open: Whether a member stands twice")
    expect(said("", { hasAuthorization: false })).toContain("open: What permitted the call")
  })
})
