/** A call of a Skill as a request of MCP: the tool's name in its Workspace, and its arguments. */

import type { Json, JsonObject } from "@/api/contract.gen"
import { asList, isList, isObject, valueAt } from "@/api/json"

export interface SkillKey {
  readonly agentId: string
  readonly skillId: string
}

const OTHER = /[^A-Za-z0-9_-]/g
const MAX_LENGTH = 64
const MARK_LENGTH = 9

/** The names of all Skills of a Workspace, in their order; undefined for one whose name means two. */
export async function toolNames(skills: ReadonlyArray<SkillKey>): Promise<ReadonlyArray<string | undefined>> {
  const marked = await Promise.all(skills.map(markedName))
  const plain = skills.map(plainName)
  const taken = plain.map((name, at) => name ?? marked[at])
  const names = plain.map((name, at) => (name !== undefined && isOnce(taken, name) ? name : marked[at]))
  return names.map((name) => (name !== undefined && isOnce(names, name) ? name : undefined))
}

/** `tools/call` as a line of JSON, for a client that speaks MCP. */
export function toolCall(name: string, schema: JsonObject, input: Json): string {
  const given = allowsOnlyObjects(schema, schema, new Set()) ? input : { input }
  return JSON.stringify(
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } },
    null,
    2,
  )
}

/** Whether that is certain; what is not is wrapped, which is never wrong. */
export function allowsOnlyObjects(
  schema: Json | undefined,
  root: JsonObject,
  entered: ReadonlySet<Json>,
): boolean {
  if (!isObject(schema) || entered.has(schema)) return schema === false
  const judge = (part: Json | undefined) => allowsOnlyObjects(part, root, new Set([...entered, schema]))
  const { type } = schema
  if (type === "object" || (isList(type) && type.length === 1 && type[0] === "object")) return true
  return (
    asList(schema["allOf"]).some(judge) ||
    ["anyOf", "oneOf"].some((name) => asList(schema[name]).length > 0 && asList(schema[name]).every(judge)) ||
    areObjects("const" in schema ? [schema["const"] ?? null] : asList(schema["enum"])) ||
    judge(target(schema["$ref"], root))
  )
}

function areObjects(values: ReadonlyArray<Json>): boolean {
  return values.length > 0 && values.every((value) => isObject(value))
}

function target(reference: Json | undefined, root: JsonObject): Json | undefined {
  return typeof reference === "string" && reference.startsWith("#")
    ? valueAt(root, reference.slice(1))
    : undefined
}

function isOnce(names: ReadonlyArray<string | undefined>, name: string): boolean {
  return names.filter((other) => other === name).length === 1
}

function plainName({ agentId, skillId }: SkillKey): string | undefined {
  const name = `${agentId}__${skillId}`
  return name.length > MAX_LENGTH || name.search(OTHER) !== -1 ? undefined : name
}

async function markedName({ agentId, skillId }: SkillKey): Promise<string> {
  const bytes = new TextEncoder().encode(`${agentId}\n${skillId}`)
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))
  const mark = Array.from(digest.slice(0, 4), (byte) => byte.toString(16).padStart(2, "0")).join("")
  return `${`${agentId}__${skillId}`.replaceAll(OTHER, "_").slice(0, MAX_LENGTH - MARK_LENGTH)}_${mark}`
}
