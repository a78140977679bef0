/** Calls one operation of the Gateway: path and query filled in, token added, answer or Problem read. */

import { OPERATIONS, type OperationId, type Operations } from "@/api/contract.gen"
import { currentToken } from "@/api/oidc/current"
import { Problem, problemOf, UNREACHABLE, UNREADABLE } from "@/api/problem"
import { dropRejected } from "@/api/session"
import { runtimeConfig } from "@/config/runtime"

/** What an operation takes: its path parameters, query and body, as far as it has them. */
export type Input<Id extends OperationId> = Omit<Operations[Id], "answer">
export type Answer<Id extends OperationId> = Operations[Id]["answer"]

interface Parts {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
}

const ANONYMOUS: ReadonlySet<OperationId> = new Set(["readPublicAgent", "signIn"])
const TRACE_HEADER = "x-platform-trace-id"

export async function call<Id extends OperationId>(
  id: Id,
  input: Input<Id>,
  signal?: AbortSignal,
): Promise<Answer<Id>> {
  const response = await send(id, input, "application/json", signal)
  return (await readJson(response, id)) as Answer<Id>
}

/** The same with a token that is not the session's: one that was pasted, or of a session that is not wanted. */
export async function callWith<Id extends OperationId>(
  credential: string,
  id: Id,
  input: Input<Id>,
): Promise<Answer<Id>> {
  const response = await sendAs(credential, id, input, "application/json")
  return (await readJson(response, id)) as Answer<Id>
}

/** The successful answer, its body not yet read; any other answer is thrown as a Problem. */
export async function send(
  id: OperationId,
  parts: Parts,
  accept: string,
  signal?: AbortSignal,
): Promise<Response> {
  return sendAs(ANONYMOUS.has(id) ? undefined : await currentToken(), id, parts, accept, signal)
}

async function sendAs(
  credential: string | undefined,
  id: OperationId,
  parts: Parts,
  accept: string,
  signal?: AbortSignal,
): Promise<Response> {
  const { method, path } = OPERATIONS[id]
  const headers = new Headers({ Accept: accept })
  if (credential !== undefined) headers.set("Authorization", `Bearer ${credential}`)
  if (parts.body !== undefined) headers.set("Content-Type", "application/json")
  const response = await answered(id, runtimeConfig().apiBaseUrl + address(path, parts), {
    method,
    headers,
    body: parts.body === undefined ? undefined : JSON.stringify(parts.body),
    signal,
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    referrerPolicy: "no-referrer",
  })
  if (response.ok) return response
  if (response.status === 401 && credential !== undefined) dropRejected(credential)
  throw await refusal(response, id)
}

async function answered(operation: OperationId, url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, request)
  } catch (failure) {
    if (request.signal?.aborted === true) throw failure
    throw new Problem({ message: UNREACHABLE, operation })
  }
}

async function refusal(response: Response, operation: OperationId): Promise<Problem> {
  const traceId = response.headers.get(TRACE_HEADER) ?? undefined
  const body: unknown = await response.json().catch(() => undefined)
  return problemOf(response.status, body, traceId, operation)
}

async function readJson(response: Response, operation: OperationId): Promise<unknown> {
  try {
    return await response.json()
  } catch (failure) {
    if (failure instanceof DOMException && failure.name === "AbortError") throw failure
    throw new Problem({
      message: UNREADABLE,
      operation,
      status: response.status,
      traceId: response.headers.get(TRACE_HEADER) ?? undefined,
    })
  }
}

export function address(template: string, parts: Parts): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = parts.path?.[name]
    if (value === undefined) throw new Error(`no value for the path parameter ${name}`)
    return encodeURIComponent(value)
  })
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parts.query ?? {})) {
    if (value !== undefined) query.set(name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query.toString()}`
}
