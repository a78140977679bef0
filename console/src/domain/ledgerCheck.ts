/**
 * Checks a bundle that the Gateway answered in the browser: every event leads to the root of its head, and the parts
 * agree, as `aop verify` does. Whoever has a file of somebody else uses that: it also sees members that stand twice.
 */

import type { Answer } from "@/api/http"

type Bundle = Answer<"readInvocationBundle">
type Leaf = Bundle["invocations"][number]["leaves"][number]

export interface Checked {
  readonly events: number
  /** Whether the events tell what permitted the call; older ones do not. */
  readonly hasAuthorization: boolean
  readonly size: number
  readonly root: string
  /** The smallest and the largest tree that the places of the events fit. */
  readonly sizes: readonly [least: number, most: number]
}

/** The bundle is not what it says it is. */
export class BundleWrong extends Error {}

const ENDED: ReadonlySet<unknown> = new Set(["succeeded", "failed", "canceled", "timed_out"])
const HASH = /^[0-9a-f]{64}$/
const REPEATED = [
  "schemaVersion",
  "invocationId",
  "traceId",
  "rootTaskId",
  "parentInvocationId",
  "caller",
  "workspaceId",
  "targetAgentId",
  "agentCardVersion",
  "agentReleaseId",
  "agentCardDigest",
  "capability",
] as const

/** Of one Invocation. Throws BundleWrong at the first thing that is not right. */
export async function checkBundle(bundle: Bundle): Promise<Checked> {
  if ((bundle.schemaVersion as string) !== "1") throw new BundleWrong("the bundle has another version")
  const [call] = bundle.invocations
  if (call === undefined || bundle.invocations.length !== 1)
    throw new BundleWrong("another number of Invocations")
  const { size, root } = bundle.head
  for (const leaf of call.leaves) {
    if ((await rootFrom(leaf, size)) !== root)
      throw new BundleWrong(`event ${String(leaf.leaf.sequence)} is not in the tree`)
  }
  const [first] = call.leaves
  if (first === undefined || first.leaf.invocationId !== bundle.invocationId)
    throw new BundleWrong("the events are of another Invocation")
  requireChain(call.leaves)
  await requireCard(call.card, first.leaf)
  await requireAuthorization(call.authorization, first.leaf)
  return {
    events: call.leaves.length,
    hasAuthorization: first.leaf.authorizationDigest !== undefined,
    size,
    root,
    sizes: sizesOf(call.leaves, size),
  }
}

async function requireCard(text: string, named: Leaf["leaf"]): Promise<void> {
  const raw = decoded(text)
  if (raw === null || hex(await sha256(raw)) !== named.agentCardDigest)
    throw new BundleWrong("the Card is another one")
  const card = parsed(raw)
  if (card?.agentId !== named.targetAgentId || card.version !== named.agentCardVersion)
    throw new BundleWrong("the Card is of another Agent")
}

function decoded(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}

function parsed(raw: Uint8Array): { readonly agentId?: unknown; readonly version?: unknown } | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(raw))
    return typeof value === "object" ? value : null
  } catch {
    return null
  }
}

async function requireAuthorization(
  permitted: Bundle["invocations"][number]["authorization"],
  named: Leaf["leaf"],
): Promise<void> {
  const digest = named.authorizationDigest
  if (digest === undefined && permitted === undefined) return
  if (permitted === undefined || hex(await sha256(bytesOf(permitted))) !== digest)
    throw new BundleWrong("what permitted the call was changed")
  const { installation, release } = permitted
  if (
    installation.installedVersion !== named.agentCardVersion ||
    installation.installedReleaseId !== named.agentReleaseId ||
    release.releaseId !== named.agentReleaseId ||
    release.cardDigest !== named.agentCardDigest
  )
    throw new BundleWrong("another Release was permitted")
}

/** All sizes of trees in which paths of this form lead from these places to a root. Numbers may have more than 32 bits. */
function sizesOf(leaves: ReadonlyArray<Leaf>, size: number): readonly [least: number, most: number] {
  let least = 0
  let most = Infinity
  for (const { number } of leaves) {
    const turn = (BigInt(number) ^ BigInt(size - 1)).toString(2)
    const width = turn === "0" ? 1 : 2 ** turn.length
    const start = Math.floor(number / width) * width
    least = Math.max(least, start + Math.floor(width / 2) + 1)
    most = Math.min(most, start + width)
  }
  return [least, most]
}

function requireChain(leaves: ReadonlyArray<Leaf>): void {
  const first = leaves[0]?.leaf
  leaves.forEach(({ leaf, number }, place) => {
    const before = leaves[place - 1]
    if (leaf.sequence !== place || (before !== undefined && number <= before.number))
      throw new BundleWrong("an event is missing")
    if (REPEATED.some((name) => canonical(leaf[name]) !== canonical(first?.[name])))
      throw new BundleWrong("an event is of another Invocation")
  })
  if (!ENDED.has(leaves.at(-1)?.leaf.status)) throw new BundleWrong("the last event is missing")
}

/** The root that a leaf and its path lead to (RFC 9162, section 2.1.3.2). Numbers may have more than 32 bits. */
async function rootFrom({ number, leaf, path }: Leaf, size: number): Promise<string> {
  let place = number
  let last = size - 1
  let node = await sha256(joined(Uint8Array.of(0), bytesOf(leaf)))
  const up = () => {
    place = Math.floor(place / 2)
    last = Math.floor(last / 2)
  }
  if (!Number.isSafeInteger(number) || number < 0 || number >= size)
    throw new BundleWrong("a leaf stands outside the tree")
  for (const text of path) {
    if (last === 0) throw new BundleWrong("a path is too long")
    if (!HASH.test(text)) throw new BundleWrong("a hash is no hash")
    const beside = bytesOfHex(text)
    if (place % 2 === 1 || place === last) {
      node = await sha256(joined(Uint8Array.of(1), beside, node))
      while (place % 2 === 0 && place !== 0) up()
    } else node = await sha256(joined(Uint8Array.of(1), node, beside))
    up()
  }
  if (last !== 0) throw new BundleWrong("a path is too short")
  return hex(node)
}

/** RFC 8785. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, item]) => item !== undefined)
  const sorted = members.sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${sorted.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`).join(",")}}`
}

function bytesOf(value: unknown): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(canonical(value))
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))
}

function joined(...parts: ReadonlyArray<Uint8Array>): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
}

function bytesOfHex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}
