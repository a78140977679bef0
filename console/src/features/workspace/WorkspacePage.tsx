/** One Workspace: what is installed in it, and what was. */

import { useQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { FlaskConical, Plug, Plus } from "lucide-react"
import { useState } from "react"

import type { InstallationItem, Workspace } from "@/api/contract.gen"
import { read, whole } from "@/api/queries"
import { Breadcrumbs } from "@/components/Breadcrumbs"
import { Button } from "@/components/Button"
import { Loaded } from "@/components/Loaded"
import { Page } from "@/components/Page"
import { Tabs } from "@/components/Tabs"
import { Time } from "@/components/Time"
import { ChangeInstallation } from "@/domain/ChangeInstallation"
import { CallerNotice, useIsOwner } from "@/domain/ownership"
import { CurrentInstallations } from "@/features/workspace/CurrentInstallations"
import { History } from "@/features/workspace/History"

const route = getRouteApi("/console/workspaces/$workspaceId")

export function WorkspacePage() {
  const { workspaceId } = route.useParams()
  const workspace = useQuery(read("readWorkspace", { path: { workspaceId } }))
  if (workspace.data === undefined) {
    return (
      <Page title={workspaceId}>
        <Loaded query={workspace} what="Workspace">
          {() => null}
        </Loaded>
      </Page>
    )
  }
  return <KnownWorkspace key={workspaceId} workspace={workspace.data} />
}

function KnownWorkspace({ workspace }: { readonly workspace: Workspace }) {
  const { workspaceId, ownerId } = workspace
  const isOwner = useIsOwner(ownerId)
  const installations = useQuery(whole("listInstallations", { path: { workspaceId }, query: {} }))
  return (
    <Page
      title={workspaceId}
      heading={<span className="id-text">{workspaceId}</span>}
      above={
        <Breadcrumbs>
          <Link to="/workspaces">Workspaces</Link>
          <span className="id-text">{workspaceId}</span>
        </Breadcrumbs>
      }
      description={
        <>
          Owned by <span className="id-text">{ownerId}</span>
          {isOwner === true ? ", which is you" : ""}. Created <Time at={workspace.createdAt} />.
        </>
      }
      actions={
        <>
          <Button asChild>
            <Link to="/workspaces/$workspaceId/playground" params={{ workspaceId }}>
              <FlaskConical aria-hidden />
              Playground
            </Link>
          </Button>
          <Button asChild>
            <Link to="/workspaces/$workspaceId/connect" params={{ workspaceId }}>
              <Plug aria-hidden />
              Use it from…
            </Link>
          </Button>
          {isOwner === true ? (
            <Button asChild tone="primary">
              <Link to="/discover" search={{ installable: true }}>
                <Plus aria-hidden />
                Install an Agent
              </Link>
            </Button>
          ) : null}
        </>
      }
    >
      {isOwner === false ? (
        <CallerNotice ownerId={ownerId}>
          You can call its Agents and read its records, but not install, change or remove Agents.
        </CallerNotice>
      ) : null}
      <Loaded query={installations} what="Installations">
        {(records) => <Installations records={records} isOwner={isOwner === true} />}
      </Loaded>
    </Page>
  )
}

interface InstallationsProps {
  readonly records: ReadonlyArray<InstallationItem>
  readonly isOwner: boolean
}

function Installations({ records, isOwner }: InstallationsProps) {
  const { view, agent } = route.useSearch()
  const navigate = route.useNavigate()
  const current = records.filter(({ status }) => status !== "uninstalled")
  const past = records.filter(({ status }) => status === "uninstalled").reverse()
  // Held here, because after the change its Installation is no longer a current one.
  const [changing, setChanging] = useState<InstallationItem>()
  return (
    <>
      <Tabs
        label="Installations"
        value={view ?? "current"}
        onChange={(next) =>
          void navigate({
            search: { view: next === "current" ? undefined : next },
            replace: true,
            resetScroll: false,
          })
        }
        tabs={[
          {
            name: "current",
            label: `Installed (${current.length})`,
            content: (
              <CurrentInstallations
                installations={current}
                marked={agent}
                onUpgrade={isOwner ? setChanging : undefined}
              />
            ),
          },
          { name: "history", label: `History (${past.length})`, content: <History records={past} /> },
        ]}
      />
      {changing === undefined ? null : (
        <ChangeInstallation installation={changing} onClose={() => setChanging(undefined)} />
      )}
    </>
  )
}
