/** The way to something recorded in a Workspace: all Workspaces, this one, its list. */

import { Link } from "@tanstack/react-router"

import { Breadcrumbs } from "@/components/Breadcrumbs"

interface WorkspaceCrumbsProps {
  readonly workspaceId: string
  readonly list: "Traces" | "Invocations"
}

const LISTS = {
  Traces: "/workspaces/$workspaceId/traces",
  Invocations: "/workspaces/$workspaceId/invocations",
} as const

export function WorkspaceCrumbs({ workspaceId, list }: WorkspaceCrumbsProps) {
  return (
    <Breadcrumbs>
      <Link to="/workspaces">Workspaces</Link>
      <Link to="/workspaces/$workspaceId" params={{ workspaceId }} className="id-text">
        {workspaceId}
      </Link>
      <Link to={LISTS[list]} params={{ workspaceId }}>
        {list}
      </Link>
    </Breadcrumbs>
  )
}
