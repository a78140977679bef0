/** Starts and stops Invocations, one at a time; leaving the screen stops the one that runs. */

import { useQueryClient } from "@tanstack/react-query"
import { useCallback, useEffect, useRef, useState } from "react"

import type { InvocationRequest, Json } from "@/api/contract.gen"
import { invoke, invokeStreaming } from "@/api/stream"
import type { StreamEvent } from "@/api/streamEvents"
import { answered, begin, broken, received, type Run } from "@/features/playground/run"

/** Chunks that arrive within this time are shown together. */
const BATCH_MILLISECONDS = 40

export interface Running {
  readonly run: Run | undefined
  readonly start: (request: InvocationRequest) => void
  readonly stop: () => void
}

type Change = (change: (run: Run) => Run) => void

export function useRun(workspaceId: string): Running {
  const [run, setRun] = useState<Run>()
  const controller = useRef<AbortController>(undefined)
  const client = useQueryClient()
  const wasRefused = run?.outcome?.state === "refused"
  useEffect(() => () => controller.current?.abort(), [])
  useEffect(() => {
    // What is known of the Workspace may be why: it is read again by the next screen, not under this one.
    if (wasRefused) void client.invalidateQueries({ queryKey: ["listInstallations"], refetchType: "none" })
  }, [wasRefused, client])
  const stop = useCallback(() => controller.current?.abort(), [])
  const start = useCallback(
    (request: InvocationRequest) => {
      controller.current?.abort()
      const own = new AbortController()
      controller.current = own
      setRun(begin(request.input, request.stream, Date.now()))
      // What a run that was replaced still has to say is dropped.
      const change: Change = (next) => {
        if (controller.current === own) setRun((run) => (run === undefined ? run : next(run)))
      }
      void followed(workspaceId, request, own.signal, change)
    },
    [workspaceId],
  )
  return { run, start, stop }
}

async function followed(
  workspaceId: string,
  { stream, ...request }: InvocationRequest,
  signal: AbortSignal,
  change: Change,
): Promise<void> {
  try {
    if (stream) {
      const batches = new Batches((events) => change((run) => received(run, events, Date.now())))
      try {
        for await (const event of invokeStreaming(workspaceId, request, signal)) batches.add(event)
      } finally {
        batches.flush()
      }
    } else {
      const { result, ...ids } = await invoke(workspaceId, request, signal)
      change((run) => answered(run, ids, result as Json, Date.now()))
    }
  } catch (failure) {
    change((run) => broken(run, failure, signal.aborted, Date.now()))
  }
}

/** Delivers events a few times a second, however fast they arrive. */
class Batches {
  private waiting: StreamEvent[] = []
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly tell: (events: ReadonlyArray<StreamEvent>) => void) {}

  add(event: StreamEvent): void {
    this.waiting.push(event)
    this.timer ??= setTimeout(() => this.flush(), BATCH_MILLISECONDS)
  }

  flush(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    const events = this.waiting
    this.waiting = []
    if (events.length > 0) this.tell(events)
  }
}
