/** Chooses the current Workspace and shows the account's role in it; links to the list, where new ones are created. */

import { useQuery } from "@tanstack/react-query"
import { Link, useLocation } from "@tanstack/react-router"
import { Check, ChevronsUpDown, Plus } from "lucide-react"

import type { WorkspaceItem } from "@/api/contract.gen"
import { useCurrentWorkspace } from "@/api/currentWorkspace"
import { workspacesAs } from "@/api/queries"
import { Badge } from "@/components/Badge"
import { Button } from "@/components/Button"
import { Menu, MenuItem, MenuLabel, MenuSeparator } from "@/components/Menu"

export function WorkspaceSwitcher() {
  const { workspaceId, role } = useCurrentWorkspace()
  return (
    <Menu
      align="start"
      trigger={
        <Button
          className="mb-1 w-full justify-between"
          aria-label={`Workspace: ${workspaceId ?? "none chosen"}${workspaceId && role ? `, ${role}` : ""}`}
        >
          <span className="min-w-0 flex-1 truncate text-left">{workspaceId ?? "Choose a Workspace"}</span>
          {workspaceId && role ? <Badge>{role}</Badge> : null}
          <ChevronsUpDown aria-hidden className="text-muted" />
        </Button>
      }
    >
      <Places as="owner" label="Your Workspaces" current={workspaceId} />
      <Places as="caller" label="Shared with you" current={workspaceId} />
      <MenuItem asChild>
        <Link to="/workspaces">
          <Plus aria-hidden />
          All Workspaces, new Workspace
        </Link>
      </MenuItem>
    </Menu>
  )
}

interface PlacesProps {
  readonly as: WorkspaceItem["role"]
  readonly label: string
  readonly current: string | undefined
}

/** One page of them, read when the menu is opened. */
function Places({ as, label, current }: PlacesProps) {
  const { data } = useQuery(workspacesAs(as))
  const isOnStatus = useLocation({ select: ({ pathname }) => pathname === "/status" })
  if (data === undefined || data.items.length === 0) return null
  return (
    <>
      <MenuLabel>{data.isWhole ? label : `${label} (the first ${data.items.length})`}</MenuLabel>
      {data.items.map(({ workspaceId }) => (
        <MenuItem key={workspaceId} asChild>
          {/* Status shows one Workspace after the other; everywhere else a choice opens it. */}
          <Link
            {...(isOnStatus
              ? { to: "/status", search: (before) => ({ ...before, workspace: workspaceId }) }
              : { to: "/workspaces/$workspaceId", params: { workspaceId } })}
          >
            <span className="min-w-0 flex-1 truncate">{workspaceId}</span>
            {workspaceId === current ? <Check aria-label="current" /> : null}
          </Link>
        </MenuItem>
      ))}
      <MenuSeparator />
    </>
  )
}
