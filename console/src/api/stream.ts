/** Invokes an Agent: one JSON result, or its events as they arrive; aborting the signal is leaving as a caller. */

import type { InvocationRequest, InvocationResult } from "@/api/contract.gen"
import { call, send } from "@/api/http"
import { StreamInterrupted, StreamInvalid, StreamRules, type StreamEvent } from "@/api/streamEvents"

type Request = Omit<InvocationRequest, "stream">

export function invoke(
  workspaceId: string,
  request: Request,
  signal: AbortSignal,
): Promise<InvocationResult> {
  return call("invokeAgent", { path: { workspaceId }, body: { ...request, stream: false } }, signal)
}

/** Yields events that were checked; a broken stream throws StreamInvalid, a cut one StreamInterrupted. */
export async function* invokeStreaming(
  workspaceId: string,
  request: Request,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent, void, void> {
  const parts = { path: { workspaceId }, body: { ...request, stream: true } }
  const response = await send("invokeAgent", parts, "text/event-stream", signal)
  if (response.headers.get("content-type") !== "text/event-stream" || response.body === null) {
    throw new StreamInvalid("The answer is not an event stream.")
  }
  const rules = new StreamRules()
  for await (const payload of payloads(response.body, signal)) yield rules.read(payload)
  rules.end()
}

async function* payloads(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<string, void, void> {
  const reader = body.getReader()
  const frames = new Frames()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((failure: unknown) => {
        if (signal.aborted) throw failure
        throw new StreamInterrupted("The connection was lost before the last event.")
      })
      if (done) return
      yield* frames.feed(value)
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** Cuts a byte stream into frames: `data: ` and one line of JSON, or a comment; each ends with an empty line. */
export class Frames {
  private readonly decoder = new TextDecoder("utf-8", { fatal: true })
  private rest = ""

  feed(piece: Uint8Array): string[] {
    const found: string[] = []
    this.rest += this.decoded(piece)
    for (let end = this.rest.indexOf("\n\n"); end !== -1; end = this.rest.indexOf("\n\n")) {
      const frame = this.rest.slice(0, end)
      this.rest = this.rest.slice(end + 2)
      if (frame === ":") continue
      if (!frame.startsWith("data: ") || /[\n\r]/.test(frame))
        throw new StreamInvalid("A frame is not one line of data.")
      found.push(frame.slice("data: ".length))
    }
    return found
  }

  private decoded(piece: Uint8Array): string {
    try {
      return this.decoder.decode(piece, { stream: true })
    } catch {
      throw new StreamInvalid("The stream is not UTF-8.")
    }
  }
}
