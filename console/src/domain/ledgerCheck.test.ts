import { readFileSync } from "node:fs"

import { expect, it } from "vitest"

import { checkBundle } from "@/domain/ledgerCheck"

interface Case {
  readonly name: string
  readonly bundle: Parameters<typeof checkBundle>[0]
  readonly verdict: "valid" | "wrong"
}

const file = new URL("../../../contracts/vectors/ledger-bundle.json", import.meta.url)
const { cases } = JSON.parse(readFileSync(file, "utf-8")) as { cases: ReadonlyArray<Case> }

it.each(cases)("judges the bundle as the vector says: $name", async ({ bundle, verdict }) => {
  if (verdict === "valid") {
    const checked = await checkBundle(bundle)
    expect([checked.events, checked.hasAuthorization, checked.size]).toEqual([4, true, 11])
  } else await expect(checkBundle(bundle)).rejects.toThrow(/./)
})
