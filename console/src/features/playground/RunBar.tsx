/** Runs that go on, or have ended, while one looks at another screen: the way back to each, until its end was seen. */

import { Link, useLocation } from "@tanstack/react-router"
import { Square, X } from "lucide-react"

import { Button } from "@/components/Button"
import { Elapsed } from "@/features/playground/Elapsed"
import { RunState } from "@/features/playground/OutcomeNotice"
import { forgetRun, isRunning, stopRun, type TabRun } from "@/features/playground/runs"
import { useTabRuns } from "@/features/playground/useRun"
import { useRunIcon } from "@/features/playground/useRunIcon"

export function RunBar() {
  const path = useLocation({ select: ({ pathname }) => pathname })
  const all = useTabRuns()
  useRunIcon(all)
  const runs = all.filter((each) => isRunning(each) || !each.isSeen)
  if (runs.length === 0 || path.endsWith("/playground")) return null
  return (
    <section
      aria-label="Runs of the Playground"
      className="sticky bottom-0 z-20 border-t border-line bg-surface px-4 sm:px-6 lg:px-8"
    >
      <ul className="mx-auto max-w-5xl divide-y divide-line">
        {runs.map((each) => (
          <RunItem key={`${each.workspaceId} ${each.agentId} ${each.capability}`} tabRun={each} />
        ))}
      </ul>
    </section>
  )
}

function RunItem({ tabRun }: { readonly tabRun: TabRun }) {
  const { workspaceId, agentId, capability, name, run } = tabRun
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2 text-sm">
      <span className="min-w-0 truncate font-medium">{name}</span>
      <RunState run={run} />
      <Elapsed key={run.startedAt} run={run} />
      <span className="ml-auto flex items-center gap-1">
        <Button asChild size="small">
          <Link
            to="/workspaces/$workspaceId/playground"
            params={{ workspaceId }}
            search={{ agent: agentId, capability }}
          >
            {isRunning(tabRun) ? "Return to the run" : "Show the result"}
          </Link>
        </Button>
        {isRunning(tabRun) ? (
          <Button tone="quiet" size="iconSmall" aria-label={`Stop ${name}`} onClick={() => stopRun(tabRun)}>
            <Square aria-hidden />
          </Button>
        ) : (
          <Button
            tone="quiet"
            size="iconSmall"
            aria-label={`Close the result of ${name}`}
            onClick={() => forgetRun(tabRun)}
          >
            <X aria-hidden />
          </Button>
        )}
      </span>
    </li>
  )
}
