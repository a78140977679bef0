/** The run of one Skill for its screen: begun before, going on, or started here. */

import { useQueryClient } from "@tanstack/react-query"
import { useEffect, useSyncExternalStore } from "react"

import type { InvocationRequest } from "@/api/contract.gen"
import type { Run } from "@/features/playground/run"
import {
  isRunning,
  isSame,
  markSeen,
  MAX_RUNNING,
  onRunsChange,
  startRun,
  stopRun,
  tabRuns,
  type TabRun,
  type Tried,
} from "@/features/playground/runs"

export interface Running {
  readonly run: Run | undefined
  readonly isBusy: boolean
  /** As many others run as may. */
  readonly isFull: boolean
  readonly start: (request: InvocationRequest) => void
  readonly stop: () => void
}

export function useTabRuns(): ReadonlyArray<TabRun> {
  return useSyncExternalStore(onRunsChange, tabRuns)
}

export function useRun(tried: Tried, name: string): Running {
  const runs = useTabRuns()
  const client = useQueryClient()
  const { run, isSeen = true } = runs.find((each) => isSame(each, tried)) ?? {}
  const isNews = !isSeen && run?.outcome !== undefined
  const { workspaceId, agentId, capability } = tried
  useEffect(() => {
    if (!isNews) return undefined
    const look = () => {
      // Behind another tab nobody sees anything.
      if (document.visibilityState === "visible") markSeen({ workspaceId, agentId, capability })
    }
    look()
    document.addEventListener("visibilitychange", look)
    return () => document.removeEventListener("visibilitychange", look)
  }, [isNews, workspaceId, agentId, capability])
  const wasRefused = run?.outcome?.state === "refused"
  useEffect(() => {
    // What is known of the Workspace may be why: it is read again by the next screen, not under this one.
    if (wasRefused) void client.invalidateQueries({ queryKey: ["listInstallations"], refetchType: "none" })
  }, [wasRefused, client])
  return {
    run,
    isBusy: run !== undefined && isRunning({ run }),
    isFull: runs.filter((each) => isRunning(each) && !isSame(each, tried)).length >= MAX_RUNNING,
    start: (request) => startRun(tried, name, request),
    stop: () => stopRun(tried),
  }
}
