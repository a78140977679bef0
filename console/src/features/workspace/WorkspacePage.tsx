/** One Workspace: what is installed in it, and what was. */

import { useQuery } from "@tanstack/react-query"
import { getRouteApi, Link } from "@tanstack/react-router"
import { Boxes, FlaskConical, Plug, Plus } from "lucide-react"
import { useState } from "react"

import type { InstallationItem, Workspace } from "@/api/contract.gen"
import { read, whole } from "@/api/queries"
import { Button } from "@/components/Button"
import { EmptyState } from "@/components/EmptyState"
import { Loaded } from "@/components/Loaded"
import { Page } from "@/components/Page"
import { Tabs } from "@/components/Tabs"
import { Time } from "@/components/Time"
import { CallerNotice, useIsOwner } from "@/domain/ownership"
import { History } from "@/features/workspace/History"
import { InstallationPanel } from "@/features/workspace/InstallationPanel"
import { UpgradeDialog, type PlannedUpgrade } from "@/features/workspace/UpgradeDialog"

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
      above={<Link to="/workspaces">Workspaces</Link>}
      description={
        <>
          Owned by <span className="id-text">{ownerId}</span>, created <Time at={workspace.createdAt} />.
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
  const { view } = route.useSearch()
  const navigate = route.useNavigate()
  const current = records.filter(({ status }) => status !== "uninstalled")
  const past = records.filter(({ status }) => status === "uninstalled").reverse()
  // Held here, because after the upgrade its Installation is no longer a current one.
  const [plan, setPlan] = useState<PlannedUpgrade>()
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
            content: <Current installations={current} onUpgrade={isOwner ? setPlan : undefined} />,
          },
          { name: "history", label: `History (${past.length})`, content: <History records={past} /> },
        ]}
      />
      {plan === undefined ? null : <UpgradeDialog plan={plan} onClose={() => setPlan(undefined)} />}
    </>
  )
}

interface CurrentProps {
  readonly installations: ReadonlyArray<InstallationItem>
  /** Absent for callers. */
  readonly onUpgrade: ((plan: PlannedUpgrade) => void) | undefined
}

function Current({ installations, onUpgrade }: CurrentProps) {
  if (installations.length === 0) {
    return (
      <EmptyState
        icon={<Boxes aria-hidden />}
        title="Nothing is installed here."
        action={
          onUpgrade === undefined ? undefined : (
            <Button asChild tone="primary">
              <Link to="/discover" search={{ installable: true }}>
                Find an Agent
              </Link>
            </Button>
          )
        }
      >
        {onUpgrade === undefined
          ? "Its owner installs Agents; then you can call them."
          : "Find an Agent that can do what you need, look at what it asks for, and install it into this Workspace."}
      </EmptyState>
    )
  }
  return (
    <ul className="space-y-4">
      {installations.map((installation) => (
        <li key={installation.installationId}>
          <InstallationPanel installation={installation} onUpgrade={onUpgrade} />
        </li>
      ))}
    </ul>
  )
}
