/** What to do after a failure, and who does it: the recovery table of the contract. */

import {
  REASONS,
  RECOVERY,
  type ErrorCode,
  type PlatformErrorReason,
  type RecoveryOwner,
} from "@/api/contract.gen"

export interface Recovery {
  readonly owner?: string
  readonly action: string
  /** What the reason says, where there is one. */
  readonly sentence?: string
}

const OWNERS: Readonly<Record<RecoveryOwner, string>> = {
  caller: "you",
  platform_operator: "the operator of the platform",
  provider: "the provider of the Agent",
  workspace_owner: "the owner of the Workspace",
}

interface CodeAndReason {
  readonly code?: ErrorCode
  readonly reason?: PlatformErrorReason
}

/** The next action for a problem, by its reason where it has one; one without a code is a problem of reaching the Gateway. */
export function recoveryOf(problem: CodeAndReason | undefined): Recovery | undefined {
  if (problem === undefined) return undefined
  if (problem.code === undefined)
    return { action: "Check that the Gateway runs and is reachable, then try again." }
  const nearer = problem.reason === undefined ? undefined : REASONS[problem.code]?.[problem.reason]
  const { owner, action } = nearer ?? RECOVERY[problem.code]
  return { owner: OWNERS[owner], action, sentence: nearer?.sentence }
}
