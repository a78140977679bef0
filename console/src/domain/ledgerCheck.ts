/** Checks a bundle of the Ledger in the browser, as `aop verify` does: every event is in the tree, unchanged. */

import type { Answer } from "@/api/http"

type Bundle = Answer<"readInvocationBundle">
type Leaf = Bundle["invocations"][number]["leaves"][number]

export interface Checked {
  readonly events: number
  /** Whether the events tell what permitted the call; older ones do not. */
  readonly hasAuthorization: boolean
  readonly size: number
  readonly root: string
}

/** The bundle is not what it says it is. */
export class BundleWrong extends Error {}

const ENDED: ReadonlySet<unknown> = new Set(["succeeded", "failed", "canceled", "timed_out"])
const REPEATED = [
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
  const card = Uint8Array.from(atob(call.card), (character) => character.charCodeAt(0))
  if (hex(await sha256(card)) !== first.leaf.agentCardDigest) throw new BundleWrong("the Card is another one")
  const digest = first.leaf.authorizationDigest
  if (digest !== undefined && hex(await sha256(bytesOf(call.authorization))) !== digest)
    throw new BundleWrong("what permitted the call was changed")
  return { events: call.leaves.length, hasAuthorization: digest !== undefined, size, root }
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
  if (number >= size) throw new BundleWrong("a leaf stands outside the tree")
  for (const text of path) {
    if (last === 0) throw new BundleWrong("a path is too long")
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
