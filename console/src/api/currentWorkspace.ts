/** The current Workspace: from the address, else the last one used, else the first one that the account owns. */

import { useQuery } from "@tanstack/react-query"
import { useParams, useSearch } from "@tanstack/react-router"
import { useEffect } from "react"

import type { WorkspaceItem } from "@/api/contract.gen"
import { isAbsent } from "@/api/problem"
import { me, read, workspacesAs } from "@/api/queries"
import { prefer, preferred } from "@/config/preferences"

export interface CurrentWorkspace {
  readonly workspaceId: string | undefined
  /** Undefined until it is known. */
  readonly role: WorkspaceItem["role"] | undefined
  /** The first ones of those that the account owns. */
  readonly workspaces: ReadonlyArray<WorkspaceItem>
  /** Which one it is, is not known yet. */
  readonly isPending: boolean
}

export function useCurrentWorkspace(): CurrentWorkspace {
  const parameters = useParams({ strict: false })
  const search = useSearch({ strict: false })
  // Pages of one Workspace have it in their path, those that can show any of them in their search.
  const addressed = parameters.workspaceId ?? search.workspace
  useEffect(() => {
    if (addressed !== undefined) prefer("workspace", addressed)
  }, [addressed])
  const own = useQuery(workspacesAs("owner"))
  const workspaces = own.data?.items ?? []
  const wanted = addressed ?? preferred("workspace")
  const isListed = workspaces.some((workspace) => workspace.workspaceId === wanted)
  // Somebody else's, or not among the first ones: one read tells whether it is there for this account.
  const other = useQuery({
    ...read("readWorkspace", { path: { workspaceId: wanted ?? "" } }),
    enabled: wanted !== undefined && own.isSuccess && !isListed,
  })
  const account = useQuery(me())
  if (wanted !== undefined && (addressed !== undefined || isListed || !isAbsent(other.error))) {
    const isPending = addressed === undefined && (own.isPending || (!isListed && other.isPending))
    const isOwner = isListed || (other.data && other.data.ownerId === account.data?.principalId)
    const role = isOwner === undefined ? undefined : isOwner ? "owner" : "caller"
    return { workspaceId: wanted, role, workspaces, isPending }
  }
  // A shared one is never chosen unasked: its owner decides which Agents get the input.
  return { workspaceId: workspaces[0]?.workspaceId, role: "owner", workspaces, isPending: own.isPending }
}
