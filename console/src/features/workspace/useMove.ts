/** The two calls of a change of version, and their progress: if the second fails, the first is still done. */

import { useState } from "react"

import type { Installation } from "@/api/contract.gen"
import { Problem } from "@/api/problem"
import { useAction } from "@/api/queries"

interface Move {
  /** Uninstalls, unless that is done, and installs; whether both are done now. */
  readonly go: (version: string, permissions: ReadonlyArray<string>) => Promise<boolean>
  readonly isPending: boolean
  readonly isUninstalled: boolean
  readonly problem: Problem | undefined
}

export function useMove({ workspaceId, installationId, agentId }: Installation): Move {
  const uninstall = useAction("uninstallAgent", ["listInstallations"])
  const install = useAction("installAgent", ["listInstallations"])
  const [isUninstalled, setIsUninstalled] = useState(false)
  const go = async (version: string, permissions: ReadonlyArray<string>) => {
    try {
      if (!isUninstalled) await uninstall.mutateAsync({ path: { workspaceId, installationId } })
      setIsUninstalled(true)
      await install.mutateAsync({
        path: { workspaceId },
        body: { agentId, versionConstraint: version, acceptedPermissions: permissions },
      })
    } catch (failure) {
      if (failure instanceof Problem) return false
      throw failure
    }
    return true
  }
  return {
    go,
    isPending: uninstall.isPending || install.isPending,
    isUninstalled,
    problem: install.error ?? uninstall.error ?? undefined,
  }
}
