/** A Card while it is being written: any JSON, changed at a place, judged by the Gateway and nobody else. */

import type { AgentCard, Json, JsonObject } from "@/api/contract.gen"
import { asList, asObject, isObject, pointerSteps, valueAt } from "@/api/json"
import type { FoundViolation } from "@/components/ViolationText"

/** A JSON Pointer, as violations have it: `/skills/0/id`. */
export type Pointer = string

export function newCard(ownerId: string): JsonObject {
  return {
    schemaVersion: "0.2",
    agentId: "",
    name: "",
    description: "",
    owner: { id: ownerId, displayName: "" },
    version: "1.0.0",
    protocol: { type: "a2a", version: "0.3.0", transport: "JSONRPC", endpoint: "" },
    skills: [newSkill()],
    authentication: { type: "http_bearer" },
    permissions: [],
    limits: { timeoutMs: 60_000, maxInputBytes: 1_048_576, maxOutputBytes: 4_194_304, streaming: false },
  }
}

export function newSkill(): JsonObject {
  return {
    id: "",
    name: "",
    description: "",
    inputSchema: { type: "object", properties: {} },
    outputSchema: { type: "object", properties: {} },
    requiredPermissions: [],
  }
}

/** The Card of the next version: everything kept, the version raised. */
export function nextCard(card: AgentCard): JsonObject {
  return { ...(card as unknown as JsonObject), version: raised(card.version) }
}

/** 1.2.3 → 1.2.4; a pre-release or build loses what follows its three numbers first. */
export function raised(version: string): string {
  const [, core = version, rest = ""] = /^(\d+\.\d+\.\d+)(.*)$/.exec(version) ?? []
  if (rest.startsWith("-")) return core
  const parts = core.split(".")
  return [...parts.slice(0, 2), String(Number(parts[2]) + 1)].join(".")
}

/** A copy that differs at that place alone; objects on the way are made where they are missing. */
export function withValueAt(card: Json, pointer: Pointer, value: Json): JsonObject {
  return replaced(card, pointerSteps(pointer), value) as JsonObject
}

export function withoutItem(card: JsonObject, list: Pointer, index: number): JsonObject {
  return withValueAt(card, list, asList(valueAt(card, list)).toSpliced(index, 1))
}

function replaced(node: Json | undefined, [step, ...rest]: ReadonlyArray<string>, value: Json): Json {
  if (step === undefined) return value
  if (Array.isArray(node)) {
    return asList(node).map((item, index) => (String(index) === step ? replaced(item, rest, value) : item))
  }
  const members = asObject(node)
  return { ...members, [step]: replaced(members[step], rest, value) }
}

/** The rules broken at a field, and those broken inside it when it shows them as one. */
export function brokenAt(
  violations: ReadonlyArray<FoundViolation>,
  pointer: Pointer,
  inside = false,
): ReadonlyArray<FoundViolation> {
  return violations.filter(
    (violation) => violation.pointer === pointer || (inside && violation.pointer.startsWith(`${pointer}/`)),
  )
}

/** Text to a Card; the position of the fault is left to the editor, its kind is said. */
export function parsedCard(text: string): JsonObject | string {
  try {
    const value = JSON.parse(text) as Json
    return isObject(value) ? value : "A Card is a JSON object."
  } catch (fault) {
    return fault instanceof Error ? fault.message : "This is not JSON."
  }
}
