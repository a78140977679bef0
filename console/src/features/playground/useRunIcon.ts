/** The icon of the browser tab says what became of its runs while one looks at another tab. */

import { useEffect } from "react"

import { isRunning, type TabRun } from "@/features/playground/runs"

type TabState = "idle" | "running" | "done" | "failed"

const ICONS: Readonly<Record<TabState, string>> = {
  idle: "/icon.svg",
  running: "/icon-running.svg",
  done: "/icon-done.svg",
  failed: "/icon-failed.svg",
}

/** Of runs whose end nobody has seen the failure counts; what still runs comes first. */
export function tabState(runs: ReadonlyArray<Pick<TabRun, "run" | "isSeen">>): TabState {
  if (runs.some(isRunning)) return "running"
  const ends = runs.filter(({ isSeen }) => !isSeen).map(({ run }) => run.outcome?.state)
  if (ends.length === 0) return "idle"
  return ends.every((state) => state === "succeeded") ? "done" : "failed"
}

export function useRunIcon(runs: ReadonlyArray<TabRun>): void {
  const icon = ICONS[tabState(runs)]
  useEffect(() => {
    document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.setAttribute("href", icon)
  }, [icon])
}
