import { describe, expect, it } from "vitest"

import { arrivalIn } from "@/api/arrival"

describe("what arrives in an address", () => {
  it("is the code of a sign-in link, anywhere in the Console", () => {
    expect(arrivalIn("/", "", "#code=Abc_-9")).toEqual({ kind: "link", code: "Abc_-9" })
    expect(arrivalIn("/discover", "?query=a", "#code=Abc_-9")).toEqual({ kind: "link", code: "Abc_-9" })
  })

  it("is a link without a usable code when the code is cut or changed", () => {
    for (const hash of ["#code=", "#code=a b", "#code=a&b", `#code=${"a".repeat(129)}`])
      expect(arrivalIn("/", "", hash)).toEqual({ kind: "link", code: undefined })
  })

  it("is the answer of the provider, on the sign-in page alone", () => {
    for (const search of ["?code=x&state=y", "?error=access_denied&state=y"]) {
      expect(arrivalIn("/sign-in", search, "")?.kind).toBe("provider")
      expect(arrivalIn("/discover", search, "")).toBeUndefined()
    }
  })

  it("is nothing in any other address", () => {
    for (const [search, hash] of [
      ["", ""],
      ["?next=%2Fdiscover", ""],
      ["?code=x", ""],
      ["?state=y", "#main"],
    ] as const)
      expect(arrivalIn("/sign-in", search, hash)).toBeUndefined()
  })
})
