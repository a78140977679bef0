/** The state of the platform: its units, and the last hour of one Workspace. */

import { useQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { Boxes } from "lucide-react"

import { whole } from "@/api/queries"
import { Button } from "@/components/Button"
import { EmptyState } from "@/components/EmptyState"
import { Field, Select } from "@/components/Field"
import { Loaded } from "@/components/Loaded"
import { Page } from "@/components/Page"
import { preferred } from "@/config/preferences"
import { HourFigures } from "@/features/status/HourFigures"
import { UnitStates } from "@/features/status/UnitStates"

const route = getRouteApi("/console/status")

export function StatusPage() {
  return (
    <Page title="Status" description="The services of the platform, checked every few seconds.">
      <UnitStates />
      <WorkspaceHour />
    </Page>
  )
}

function WorkspaceHour() {
  const workspaces = useQuery(whole("listWorkspaces", { query: {} }))
  const { workspace } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <section aria-labelledby="hour" className="mt-8">
      <Loaded query={workspaces} what="Workspaces">
        {(all) => {
          const ids = all.map((each) => each.workspaceId)
          const chosen = [workspace, preferred("workspace"), ids[0]].find((id) => id && ids.includes(id))
          return (
            <>
              <div className="mb-3 flex flex-wrap items-end justify-between gap-3">
                <h2 id="hour" className="text-lg font-semibold">
                  The last hour
                </h2>
                {chosen === undefined ? null : (
                  <Field label="Workspace" className="w-full sm:w-64">
                    {(control) => (
                      <Select
                        {...control}
                        value={chosen}
                        onChange={(event) =>
                          void navigate({
                            search: { workspace: event.target.value },
                            replace: true,
                            resetScroll: false,
                          })
                        }
                      >
                        {ids.map((id) => (
                          <option key={id}>{id}</option>
                        ))}
                      </Select>
                    )}
                  </Field>
                )}
              </div>
              {chosen === undefined ? <NoWorkspace /> : <HourFigures key={chosen} workspaceId={chosen} />}
            </>
          )
        }}
      </Loaded>
    </section>
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
