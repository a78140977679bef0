/** What the open Workspace has installed, so that every page about an Agent can say so. */

import { useQuery } from "@tanstack/react-query"

import type { InstallationItem } from "@/api/contract.gen"
import { useCurrentWorkspace } from "@/api/currentWorkspace"
import { whole } from "@/api/queries"

export interface OpenWorkspace {
  readonly workspaceId: string | undefined
  readonly isOwner: boolean
  /** Its current Installation of an Agent; undefined as well while the list is on its way. */
  readonly installationOf: (agentId: string) => InstallationItem | undefined
  /** What is installed is not known yet. */
  readonly isPending: boolean
}

export function useOpenWorkspace(): OpenWorkspace {
  const { workspaceId, role, isPending } = useCurrentWorkspace()
  const list = useInstallations(workspaceId)
  return {
    workspaceId,
    isOwner: role === "owner",
    installationOf: (agentId) => current(list.data ?? [], agentId),
    isPending: isPending || list.isLoading,
  }
}

export function useInstallations(workspaceId: string | undefined) {
  return useQuery({
    ...whole("listInstallations", { path: { workspaceId: workspaceId ?? "" }, query: {} }),
    enabled: workspaceId !== undefined,
  })
}

/** There is at most one that is not uninstalled. */
export function current(
  installations: ReadonlyArray<InstallationItem>,
  agentId: string,
): InstallationItem | undefined {
  return installations.find((each) => each.agentId === agentId && each.status !== "uninstalled")
}

/** Whether a call of some Skill can be authorized: nothing of the Installation and of its version is in the way. */
export function canBeTried({ status, skills, refusedWith }: InstallationItem): boolean {
  const permitted = skills.some(({ permissionsAccepted }) => permissionsAccepted)
  return status === "enabled" && refusedWith === undefined && permitted
}
