/** The state of the platform: its units, and the figures of the current Workspace. */

import { getRouteApi, Link } from "@tanstack/react-router"
import { Boxes } from "lucide-react"

import { useCurrentWorkspace } from "@/api/currentWorkspace"
import { Button } from "@/components/Button"
import { EmptyState } from "@/components/EmptyState"
import { Page } from "@/components/Page"
import { Loading } from "@/components/Skeleton"
import { RangeChoice } from "@/domain/RangeChoice"
import { RANGES } from "@/domain/range"
import { USUAL } from "@/features/status/search"
import { UnitStates } from "@/features/status/UnitStates"
import { WorkspaceFigures } from "@/features/status/WorkspaceFigures"

const route = getRouteApi("/console/status")

export function StatusPage() {
  const { last = USUAL } = route.useSearch()
  const navigate = route.useNavigate()
  const { workspaceId, isPending } = useCurrentWorkspace()
  return (
    <Page title="Status" description="The services of the platform, checked every few seconds.">
      <UnitStates />
      <section aria-labelledby="figures" className="mt-8">
        <div className="mb-3 flex flex-wrap items-end justify-between gap-3">
          <div>
            <h2 id="figures" className="text-lg font-semibold break-words">
              {workspaceId === undefined ? "Figures" : `Workspace ${workspaceId}`}
            </h2>
            <p className="text-sm text-muted">Calls that began in {RANGES[last].words}.</p>
          </div>
          <RangeChoice
            value={last}
            onChange={(next) =>
              void navigate({
                search: (before) => ({ ...before, last: next === USUAL ? undefined : next }),
                replace: true,
                resetScroll: false,
              })
            }
          />
        </div>
        {workspaceId !== undefined ? (
          <WorkspaceFigures workspaceId={workspaceId} range={last} />
        ) : isPending ? (
          <Loading what="Figures" />
        ) : (
          <NoWorkspace />
        )}
      </section>
    </Page>
  )
}

function NoWorkspace() {
  return (
    <EmptyState
      icon={<Boxes aria-hidden />}
      title="You have no Workspace yet."
      action={
        <Button asChild tone="primary">
          <Link to="/workspaces">Create a Workspace</Link>
        </Button>
      }
    >
      Once Agents are invoked in one, its numbers are shown here.
    </EmptyState>
  )
}
