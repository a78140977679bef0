/** What to do about a failure, and whose turn it is: the recovery table of the contract. */

import { RECOVERY, type ErrorCode, type RecoveryOwner } from "@/api/contract.gen"

export interface Recovery {
  readonly owner?: string
  readonly action: string
}

const OWNERS: Readonly<Record<RecoveryOwner, string>> = {
  caller: "caller",
  platform_operator: "platform operator",
  provider: "provider",
  workspace_owner: "Workspace owner",
}

/** The next action for a problem; one without a code is a problem of reaching the Gateway. */
export function recoveryOf(problem: { readonly code?: ErrorCode } | undefined): Recovery | undefined {
  if (problem === undefined) return undefined
  if (problem.code === undefined)
    return { action: "Check that the Gateway runs and is reachable, then try again." }
  const { owner, action } = RECOVERY[problem.code]
  return { owner: OWNERS[owner], action }
}
