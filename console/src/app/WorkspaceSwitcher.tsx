/** Chooses the current Workspace; links to the list, where new ones are created. */

import { Link, useLocation } from "@tanstack/react-router"
import { Check, ChevronsUpDown, Plus } from "lucide-react"

import { useCurrentWorkspace } from "@/api/currentWorkspace"
import { Button } from "@/components/Button"
import { Menu, MenuItem, MenuLabel, MenuSeparator } from "@/components/Menu"

export function WorkspaceSwitcher() {
  const { workspaceId, workspaces } = useCurrentWorkspace()
  const isOnStatus = useLocation({ select: ({ pathname }) => pathname === "/status" })
  return (
    <Menu
      align="start"
      trigger={
        <Button
          className="mb-1 w-full justify-between"
          aria-label={`Workspace: ${workspaceId ?? "none chosen"}`}
        >
          <span className="truncate">{workspaceId ?? "Choose a Workspace"}</span>
          <ChevronsUpDown aria-hidden className="text-muted" />
        </Button>
      }
    >
      {workspaces.length > 0 ? <MenuLabel>Your Workspaces</MenuLabel> : null}
      {workspaces.map((workspace) => (
        <MenuItem key={workspace.workspaceId} asChild>
          {/* Status shows one Workspace after the other; everywhere else a choice opens it. */}
          <Link
            {...(isOnStatus
              ? { to: "/status", search: (before) => ({ ...before, workspace: workspace.workspaceId }) }
              : { to: "/workspaces/$workspaceId", params: { workspaceId: workspace.workspaceId } })}
          >
            <span className="min-w-0 flex-1 truncate">{workspace.workspaceId}</span>
            {workspace.role === "caller" ? <span className="text-xs text-muted">caller</span> : null}
            {workspace.workspaceId === workspaceId ? <Check aria-label="current" /> : null}
          </Link>
        </MenuItem>
      ))}
      {workspaces.length > 0 ? <MenuSeparator /> : null}
      <MenuItem asChild>
        <Link to="/workspaces">
          <Plus aria-hidden />
          All Workspaces, new Workspace
        </Link>
      </MenuItem>
    </Menu>
  )
}
