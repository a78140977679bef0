/** The last inputs that were run in this tab: in its sessionStorage, bounded, and gone with the session. */

import type { InvocationRequest } from "@/api/contract.gen"
import { isObject } from "@/api/problem"
import { onSessionChange } from "@/api/session"

type SkillInput = InvocationRequest["input"]

export interface RecentInput {
  readonly input: SkillInput
  readonly at: number
}

interface Kept extends RecentInput {
  readonly skill: string
}

const KEY = "aop.recent-inputs"
const MAX_PER_SKILL = 5
const MAX_KEPT = 20
/** Characters of JSON: larger inputs are not kept. */
const MAX_SIZE = 16_384

/** Newest first. */
export function recentInputs(agentId: string, capability: string): ReadonlyArray<RecentInput> {
  return kept().filter(({ skill }) => skill === named(agentId, capability))
}

/** Keeps an input that was sent; one that was kept before becomes the newest. */
export function keepInput(agentId: string, capability: string, input: SkillInput, at: number): void {
  const text = JSON.stringify(input)
  if (text.length > MAX_SIZE) return
  const skill = named(agentId, capability)
  const others = kept().filter((each) => each.skill !== skill || JSON.stringify(each.input) !== text)
  const own = others.filter((each) => each.skill === skill).slice(0, MAX_PER_SKILL - 1)
  const rest = others.filter((each) => each.skill !== skill)
  write([{ skill, input, at }, ...[...own, ...rest].sort((one, other) => other.at - one.at)])
}

// What one person has typed is not for the next one at this tab.
onSessionChange(() => write([]))

function named(agentId: string, capability: string): string {
  return `${agentId} ${capability}`
}

function write(entries: ReadonlyArray<Kept>): void {
  try {
    if (entries.length === 0) sessionStorage.removeItem(KEY)
    else sessionStorage.setItem(KEY, JSON.stringify(entries.slice(0, MAX_KEPT)))
  } catch {
    // A browser that keeps nothing still runs everything.
  }
}

function kept(): ReadonlyArray<Kept> {
  try {
    const value: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "[]")
    return Array.isArray(value) ? value.filter(isKept) : []
  } catch {
    return []
  }
}

function isKept(value: unknown): value is Kept {
  if (!isObject(value) || typeof value["skill"] !== "string" || typeof value["at"] !== "number") return false
  return typeof value["input"] === "string" || isObject(value["input"])
}
