/** The snippets of the folder `connect`: ready texts for other programs, with the addresses of a platform filled in. */

import type { Json } from "@/api/contract.gen"
import { escaped } from "@/components/text/hidden"

export interface Snippet {
  readonly name: string
  readonly label: string
  readonly group: string
  readonly speaks: string
  readonly file: string
  readonly needs: ReadonlyArray<"agent" | "door">
  readonly token: string
  readonly install?: string
  readonly place?: string
  readonly after?: string
}

interface SnippetTable {
  readonly groups: ReadonlyArray<{ readonly name: string; readonly label: string }>
  /** How a program comes to its access token, by the word that a snippet has for it. */
  readonly token: Readonly<Record<string, string>>
  readonly snippets: ReadonlyArray<Snippet>
}

/** What is called, and where; without a door, only what the Gateway offers. */
export interface Callee {
  readonly gateway: string
  readonly workspaceId: string
  readonly door?: string
  readonly call?: ExampleCall
}

export interface ExampleCall {
  readonly agentId: string
  readonly capability: string
  readonly input: Json
  readonly streaming: boolean
}

type Value = string | boolean | ReadonlyArray<string>
type Values = Readonly<Record<string, Value>>

const PART = /^\{\{([#^])(\w+)\}\}\n(.*?)^\{\{\/\2\}\}\n/ms
const FOLDER = "../../../connect/"
const FILES: Readonly<Record<string, string>> = import.meta.glob(
  ["../../../connect/*.tmpl", "../../../connect/table.json"],
  { eager: true, query: "?raw", import: "default" },
)

export const TABLE = JSON.parse(file("table.json")) as SnippetTable

export function snippetNamed(name: string | undefined): Snippet | undefined {
  return TABLE.snippets.find((snippet) => snippet.name === name)
}

/** What the snippet needs and nobody knows. */
export function missing({ needs }: Snippet, { door, call }: Callee): ReadonlyArray<"agent" | "door"> {
  const offered = { agent: call !== undefined, door: door !== undefined }
  return needs.filter((name) => !offered[name])
}

/** The snippet with the values of this platform; nothing of what it needs may be missing. */
export function rendered(snippet: Snippet, callee: Callee): string {
  return filled(file(`${snippet.file}.tmpl`), valuesOf(callee)).trimEnd()
}

/** How the program comes to its token. */
export function tokenText(snippet: Snippet, callee: Callee): string {
  return filled(TABLE.token[snippet.token] ?? "", valuesOf(callee))
}

export function mcpUrl({ door, workspaceId }: Callee): string | undefined {
  return door === undefined ? undefined : `${door}/mcp/${workspaceId}`
}

export function a2aUrl({ door, workspaceId, call }: Callee): string | undefined {
  return door === undefined || call === undefined ? undefined : `${door}/a2a/${workspaceId}/${call.agentId}`
}

/** Parts first, from the outside to the inside; values are filled in last, so that none is taken for a part. */
export function filled(template: string, values: Values): string {
  const value = (name: string): Value => {
    const found = values[name]
    if (found === undefined) throw new Error(`A snippet needs ${name}.`)
    return found
  }
  const chosen = (_: string, sign: string, name: string, part: string) =>
    Boolean(value(name)) === (sign === "#") ? part : ""
  let text = template
  while (PART.test(text)) text = text.replace(PART, chosen)
  return text.replaceAll(/\{\{(\w+)(?:\|(\w+))?\}\}/g, (_, name: string, encoding = "") =>
    encoded(value(name), String(encoding)),
  )
}

/** One word for a POSIX shell, quoted only where it must be. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`
}

function valuesOf(callee: Callee): Values {
  const { gateway, workspaceId: workspace, call } = callee
  const found = {
    ...{ gateway, workspace, server: `aop-${workspace.replaceAll(/[^A-Za-z0-9_-]/g, "-")}` },
    ...{ program: "aop", arguments: ["mcp", "--workspace", workspace] },
    ...{ invocationsUrl: `${gateway}/v1/workspaces/${workspace}/invocations` },
    ...{ mcpUrl: mcpUrl(callee), a2aUrl: a2aUrl(callee) },
    ...(call === undefined ? {} : callValues(call)),
  }
  return Object.fromEntries(
    Object.entries(found).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

function callValues({ agentId, capability, input, streaming }: ExampleCall): Values {
  // Characters that nobody sees are spelled out: what is pasted is what was read.
  const text = escaped(JSON.stringify(input))
  const request = (stream: boolean) =>
    `{"agentId":${JSON.stringify(agentId)},"capability":${JSON.stringify(capability)},"stream":${stream},"input":${text}}`
  return {
    ...{ agent: agentId, agentName: agentId.replaceAll(/\W/g, "_"), skill: capability, streaming },
    ...{ object: typeof input !== "string", input: text },
    ...{ inputText: typeof input === "string" ? escaped(input) : "" },
    ...{ call: request(false), streamCall: request(true) },
  }
}

function encoded(value: Value, encoding: string): string {
  if (typeof value === "boolean") throw new Error("A truth value cannot be written.")
  const words = typeof value === "string" ? [value] : value
  if (encoding === "sh") return words.map(quoted).join(" ")
  if (typeof value !== "string") return `[${words.map((word) => JSON.stringify(word)).join(", ")}]`
  if (encoding === "py") return inPython(value)
  return encoding === "json" ? JSON.stringify(value) : value
}

/** In single quotes where that saves escapes, as with JSON inside. */
function inPython(value: string): string {
  const text = JSON.stringify(value)
  if (text.includes("'") || !text.slice(1, -1).includes('"')) return text
  return `'${text.slice(1, -1).replaceAll(/\\(.)/g, (pair, second: string) => (second === '"' ? '"' : pair))}'`
}

function file(name: string): string {
  const found = FILES[FOLDER + name]
  if (found === undefined) throw new Error(`There is no file ${name} in the folder connect.`)
  return found
}
