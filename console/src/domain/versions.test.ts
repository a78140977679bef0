import { describe, expect, it } from "vitest"

import type { CatalogEntry } from "@/api/contract.gen"
import { compareVersions, otherVersions } from "@/domain/versions"

function entry(version: string, installable = true): CatalogEntry {
  return { version, installable } as unknown as CatalogEntry
}

describe("versions", () => {
  it("are ordered by SemVer precedence, and by their text when that is equal", () => {
    const ordered = [
      "0.9.9",
      "1.0.0-alpha",
      "1.0.0-alpha.1",
      "1.0.0-alpha.beta",
      "1.0.0-beta.2",
      "1.0.0-beta.11",
      "1.0.0-rc.1",
      "1.0.0",
      "1.0.0+build",
      "1.2.0",
      "1.10.0",
      "99999999999999999999.0.0",
    ]
    expect([...ordered].reverse().sort(compareVersions)).toEqual(ordered)
  })
})

describe("the versions an Installation could move to", () => {
  it("are the installable ones, the highest first, and the highest newer one is suggested", () => {
    const { all, newer } = otherVersions(
      [entry("1.0.0"), entry("0.9.0"), entry("1.2.0"), entry("2.0.0", false)],
      "1.0.0",
    )
    expect(all.map(({ version }) => version)).toEqual(["1.2.0", "0.9.0"])
    expect(newer?.version).toBe("1.2.0")
  })

  it("suggest a pre-release only to those who are on one", () => {
    const versions = [entry("2.0.0-rc.1"), entry("2.0.0-rc.2")]
    expect(otherVersions(versions, "1.0.0").newer).toBeUndefined()
    expect(otherVersions(versions, "2.0.0-rc.1").newer?.version).toBe("2.0.0-rc.2")
  })

  it("suggest nothing when only older ones are there", () => {
    expect(otherVersions([entry("0.9.0")], "1.0.0").newer).toBeUndefined()
  })
})
