/** Who may use a Workspace: its owner, and the callers whom the owner added. */

import { useQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"

import type { Workspace } from "@/api/contract.gen"
import { read, whole } from "@/api/queries"
import { Breadcrumbs } from "@/components/Breadcrumbs"
import { Loaded } from "@/components/Loaded"
import { Page } from "@/components/Page"
import { Panel } from "@/components/Panel"
import { CallerNotice, useIsOwner } from "@/domain/ownership"
import { AddCaller } from "@/features/people/AddCaller"
import { CurrentCallers, FormerCallers } from "@/features/people/CallerLists"

const route = getRouteApi("/console/workspaces/$workspaceId/people")

export function PeoplePage() {
  const { workspaceId } = route.useParams()
  const workspace = useQuery(read("readWorkspace", { path: { workspaceId } }))
  return (
    <Page
      title={`People of ${workspaceId}`}
      heading="People"
      above={
        <Breadcrumbs>
          <Link to="/workspaces">Workspaces</Link>
          <Link to="/workspaces/$workspaceId" params={{ workspaceId }} className="id-text">
            {workspaceId}
          </Link>
          <span>People</span>
        </Breadcrumbs>
      }
      description="A caller calls the Agents of this Workspace and reads everything that is recorded here. Only the owner installs, changes and removes Agents and people."
    >
      <Loaded query={workspace} what="Workspace">
        {(found) => <People key={workspaceId} workspace={found} />}
      </Loaded>
    </Page>
  )
}

function People({ workspace: { workspaceId, ownerId } }: { readonly workspace: Workspace }) {
  const isOwner = useIsOwner(ownerId)
  const callers = useQuery(whole("listCallers", { path: { workspaceId }, query: {} }))
  return (
    <div className="space-y-5">
      {isOwner === false ? (
        <CallerNotice ownerId={ownerId}>
          You see your own entry. Only the owner sees, adds and removes people.
        </CallerNotice>
      ) : null}
      <Owner ownerId={ownerId} />
      <Panel title="Callers">
        <div className="space-y-5">
          {isOwner === true ? <AddCaller workspaceId={workspaceId} ownerId={ownerId} /> : null}
          <Loaded query={callers} what="Callers">
            {(records) => (
              <CurrentCallers
                records={records.filter(({ removedAt }) => removedAt === undefined)}
                mayRemove={isOwner === true}
              />
            )}
          </Loaded>
        </div>
      </Panel>
      <FormerCallers records={(callers.data ?? []).filter(({ removedAt }) => removedAt !== undefined)} />
    </div>
  )
}

function Owner({ ownerId }: { readonly ownerId: string }) {
  return (
    <Panel title="Owner">
      <div className="space-y-2 text-sm">
        <p className="id-text font-medium">{ownerId}</p>
        <p className="max-w-prose text-muted">
          A Workspace keeps its owner: ownership cannot be moved to another account. A team therefore uses an
          account of its own, and this account creates the Workspace. The operator makes such an account with{" "}
          <code className="id-text sm:whitespace-nowrap">aop token create --principal TEAM</code>, or the
          OpenID provider names the team in the claim that is the principal.
        </p>
      </div>
    </Panel>
  )
}
