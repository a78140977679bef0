/** The current Workspace: from the address, else the last one used, else the first one that the account owns. */

import { useQuery } from "@tanstack/react-query"
import { useParams, useSearch } from "@tanstack/react-router"
import { useEffect } from "react"

import type { WorkspaceItem } from "@/api/contract.gen"
import { whole } from "@/api/queries"
import { prefer, preferred } from "@/config/preferences"

interface CurrentWorkspace {
  readonly workspaceId: string | undefined
  readonly workspaces: ReadonlyArray<WorkspaceItem>
  /** The list is still loading. */
  readonly isPending: boolean
}

export function useCurrentWorkspace(): CurrentWorkspace {
  const parameters = useParams({ strict: false })
  const search = useSearch({ strict: false })
  // Pages of one Workspace have it in their path, those that can show any of them in their search.
  const addressed = parameters.workspaceId ?? search.workspace
  const { data: workspaces = [], isPending } = useQuery(whole("listWorkspaces", { query: {} }))
  useEffect(() => {
    if (addressed !== undefined) prefer("workspace", addressed)
  }, [addressed])
  const last = preferred("workspace")
  // A shared one is never chosen unasked: its owner decides which Agents get the input.
  const known =
    workspaces.find((workspace) => workspace.workspaceId === last) ??
    workspaces.find(({ role }) => role === "owner")
  return { workspaceId: addressed ?? known?.workspaceId, workspaces, isPending }
}
