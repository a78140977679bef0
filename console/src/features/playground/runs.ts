/** The runs of this tab: they go on while one looks at other screens, and end with Stop, the session or the tab. */

import type { InvocationRequest, Json } from "@/api/contract.gen"
import { onSessionChange } from "@/api/session"
import { invoke, invokeStreaming } from "@/api/stream"
import type { StreamEvent } from "@/api/streamEvents"
import { answered, begin, broken, received, type Run } from "@/features/playground/run"

/** Each holds one of the few connections that a browser has for the Gateway. */
export const MAX_RUNNING = 3
/** Results stay in memory for so many Skills; the oldest leaves first. */
const MAX_KEPT = 8
/** Chunks that arrive within this time are shown together. */
const BATCH_MILLISECONDS = 40

/** What is tried, and where. */
export interface Tried {
  readonly workspaceId: string
  readonly agentId: string
  readonly capability: string
}

/** The last run of one Skill in one Workspace. */
export interface TabRun extends Tried {
  /** The name of the Skill. */
  readonly name: string
  readonly run: Run
  /** Somebody has looked at how it ended. */
  readonly isSeen: boolean
}

interface Kept {
  readonly shown: TabRun
  readonly controller: AbortController
}

let kept: ReadonlyArray<Kept> = []
let shown: ReadonlyArray<TabRun> = []
const listeners = new Set<() => void>()

export function tabRuns(): ReadonlyArray<TabRun> {
  return shown
}

export function onRunsChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function isRunning({ run }: Pick<TabRun, "run">): boolean {
  return run.outcome === undefined
}

/** Starts anew what ran for the same Skill; does nothing while as many run as may. */
export function startRun(tried: Tried, name: string, request: InvocationRequest): void {
  const others = kept.filter((each) => !isSame(each.shown, tried))
  if (others.filter((each) => isRunning(each.shown)).length >= MAX_RUNNING) return
  stopRun(tried)
  const controller = new AbortController()
  const run = begin(request.input, request.stream, Date.now())
  replace([...others, { shown: { ...tried, name, run, isSeen: false }, controller }])
  // What a run that was replaced still has to say is dropped.
  const change: Change = (next) =>
    replace(
      kept.map((each) =>
        each.controller === controller
          ? { ...each, shown: { ...each.shown, run: next(each.shown.run) } }
          : each,
      ),
    )
  void followed(tried.workspaceId, request, controller.signal, change)
}

export function stopRun(tried: Tried): void {
  kept.find((each) => isSame(each.shown, tried))?.controller.abort()
}

/** Its result is on the screen: nothing has to lead back to it. */
export function markSeen(tried: Tried): void {
  replace(
    kept.map((each) =>
      isSame(each.shown, tried) ? { ...each, shown: { ...each.shown, isSeen: true } } : each,
    ),
  )
}

/** Stops it and forgets what came. */
export function forgetRun(tried: Tried): void {
  stopRun(tried)
  replace(kept.filter((each) => !isSame(each.shown, tried)))
}

export function isSame(one: Tried, other: Tried): boolean {
  return (
    one.workspaceId === other.workspaceId &&
    one.agentId === other.agentId &&
    one.capability === other.capability
  )
}

// Nothing one caller has got may be shown to the next.
onSessionChange(() => {
  for (const { controller } of kept) controller.abort()
  replace([])
})

function replace(next: ReadonlyArray<Kept>): void {
  const over = next.length - MAX_KEPT
  const ended = next.filter((each) => !isRunning(each.shown)).slice(0, Math.max(0, over))
  kept = next.filter((each) => !ended.includes(each))
  shown = kept.map((each) => each.shown)
  if (shown.some(isRunning)) addEventListener("beforeunload", askFirst)
  else removeEventListener("beforeunload", askFirst)
  listeners.forEach((tell) => tell())
}

/** Leaving the Console ends what runs: the browser asks. */
function askFirst(event: BeforeUnloadEvent): void {
  event.preventDefault()
}

type Change = (change: (run: Run) => Run) => void

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
