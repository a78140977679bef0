import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"

import { describe, expect, it } from "vitest"

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
    expect(checked.sizes).toEqual([11, 12])
  } else await expect(checkBundle(bundle)).rejects.toThrow(/./)
})

interface Event {
  readonly [member: string]: unknown
}

interface Loose {
  readonly authorization?: { readonly installation: object; readonly release: object }
  readonly card: string
  readonly leaves: ReadonlyArray<{ readonly leaf: Event }>
}

const valid = cases.find(({ verdict }) => verdict === "valid") as Case
const whole = valid.bundle.invocations[0] as unknown as Loose

function sha256(...parts: ReadonlyArray<Uint8Array>): Buffer {
  const hash = createHash("sha256")
  parts.forEach((part) => hash.update(part))
  return hash.digest()
}

function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  const sorted = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${sorted.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`).join(",")}}`
}

/** A bundle of its own tree of four events, as anybody can make one. */
function forged(changes: Partial<Loose>, each: Event, head: object = {}): Case["bundle"] {
  const events = whole.leaves.map(({ leaf }) => ({ ...leaf, ...each }))
  const hashes = events.map((event) => sha256(Uint8Array.of(0), Buffer.from(canonical(event))))
  const [a, b, c, d] = hashes as [Buffer, Buffer, Buffer, Buffer]
  const [left, right] = [sha256(Uint8Array.of(1), a, b), sha256(Uint8Array.of(1), c, d)]
  const paths = [
    [b, right],
    [a, right],
    [d, left],
    [c, left],
  ]
  const leaves = events.map((leaf, number) => ({
    number,
    leaf,
    path: (paths[number] ?? []).map((hash) => hash.toString("hex")),
  }))
  const root = sha256(Uint8Array.of(1), left, right).toString("hex")
  const made = {
    ...valid.bundle,
    head: { size: 4, root, ...head },
    invocations: [{ ...whole, leaves, ...changes }],
  }
  return made as unknown as Case["bundle"]
}

const digestOf = (value: unknown) => sha256(Buffer.from(canonical(value))).toString("hex")

describe("a bundle whose events lead to the root of its head", () => {
  const { installation, release } = whole.authorization as NonNullable<Loose["authorization"]>
  const other = { installation, release: { ...release, releaseId: "rel_99999999999999999999999999999999" } }
  const card = Buffer.from('{"agentId":"acme:other","version":"1.0.0"}')
  const noJson = Buffer.from("no JSON")
  const ofCard = (raw: Buffer) => ({ agentCardDigest: sha256(raw).toString("hex") })

  it("is right when its parts agree, in every tree that its places fit", async () => {
    expect((await checkBundle(forged({}, {}))).sizes).toEqual([4, 4])
  })

  it.each([
    ["has another version", { ...forged({}, {}), schemaVersion: "2" }, "another version"],
    ["has no Base64 as its Card", forged({ card: "%%%" }, {}), "the Card is another one"],
    [
      "has the Card of another Agent",
      forged({ card: card.toString("base64") }, ofCard(card)),
      "of another Agent",
    ],
    [
      "has a Card that is no JSON",
      forged({ card: noJson.toString("base64") }, ofCard(noJson)),
      "of another Agent",
    ],
    [
      "was permitted by another Release",
      forged({ authorization: other }, { authorizationDigest: digestOf(other) }),
      "another Release was permitted",
    ],
    ["has no authorization", forged({ authorization: undefined }, {}), "what permitted the call was changed"],
    ["is of a larger tree", forged({}, {}, { size: 5 }), "a path is too short"],
  ])("is refused when it %s", async (_, bundle, problem) => {
    await expect(checkBundle(bundle as Case["bundle"])).rejects.toThrow(problem)
  })
})
