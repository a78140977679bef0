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
import { History } from "@/features/workspace/History"
import { InstallationPanel } from "@/features/workspace/InstallationPanel"
import { MoveDialog, type PlannedMove } from "@/features/workspace/MoveDialog"

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
  return <OwnWorkspace key={workspaceId} workspace={workspace.data} />
}

function OwnWorkspace({ workspace }: { readonly workspace: Workspace }) {
  const { workspaceId } = workspace
  const installations = useQuery(whole("listInstallations", { path: { workspaceId }, query: {} }))
  return (
    <Page
      title={workspaceId}
      heading={<span className="id-text">{workspaceId}</span>}
      above={<Link to="/workspaces">Workspaces</Link>}
      description={
        <>
          Owned by <span className="id-text">{workspace.ownerId}</span>, created{" "}
          <Time at={workspace.createdAt} />.
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
          <Button asChild tone="primary">
            <Link to="/discover" search={{ installable: true }}>
              <Plus aria-hidden />
              Install an Agent
            </Link>
          </Button>
        </>
      }
    >
      <Loaded query={installations} what="Installations">
        {(records) => <Installations records={records} />}
      </Loaded>
    </Page>
  )
}

function Installations({ records }: { readonly records: ReadonlyArray<InstallationItem> }) {
  const { view } = route.useSearch()
  const navigate = route.useNavigate()
  const current = records.filter(({ status }) => status !== "uninstalled")
  const past = records.filter(({ status }) => status === "uninstalled").reverse()
  // Held here, because in the middle of a move its Installation is no longer a current one.
  const [plan, setPlan] = useState<PlannedMove>()
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
            content: <Current installations={current} onMove={setPlan} />,
          },
          { name: "history", label: `History (${past.length})`, content: <History records={past} /> },
        ]}
      />
      {plan === undefined ? null : <MoveDialog plan={plan} onClose={() => setPlan(undefined)} />}
    </>
  )
}

interface CurrentProps {
  readonly installations: ReadonlyArray<InstallationItem>
  readonly onMove: (plan: PlannedMove) => void
}

function Current({ installations, onMove }: CurrentProps) {
  if (installations.length === 0) {
    return (
      <EmptyState
        icon={<Boxes aria-hidden />}
        title="Nothing is installed here."
        action={
          <Button asChild tone="primary">
            <Link to="/discover" search={{ installable: true }}>
              Find an Agent
            </Link>
          </Button>
        }
      >
        Find an Agent that can do what you need, look at what it asks for, and install it into this Workspace.
      </EmptyState>
    )
  }
  return (
    <ul className="space-y-4">
      {installations.map((installation) => (
        <li key={installation.installationId}>
          <InstallationPanel installation={installation} onMove={onMove} />
        </li>
      ))}
    </ul>
  )
}
