/** What a failure means and what to do about it: by what was tried, else by the recovery table of the contract. */

import {
  ERROR_CODES,
  REASONS,
  RECOVERY,
  type ErrorCode,
  type OperationId,
  type PlatformErrorReason,
  type RecoveryOwner,
} from "@/api/contract.gen"
import type { Sentence } from "@/api/situation"
import { situationOf } from "@/api/sentences"

export interface Recovery {
  /** Whose turn it is, when it is not the reader's. */
  readonly owner?: string
  readonly action: string
  /** What the reason says, where there is one. */
  readonly sentence?: string
}

const OWNERS: Readonly<Record<RecoveryOwner, string | undefined>> = {
  caller: undefined,
  platform_operator: "the operator of the platform",
  provider: "the provider of the Agent",
  workspace_owner: "the owner of the Workspace",
}

interface Failure {
  readonly operation?: OperationId
  readonly code?: ErrorCode
  readonly reason?: PlatformErrorReason
}

const UNREACHED = "Check that the Gateway runs and is reachable, then try again."

/** What the contract says, by the reason where there is one; one without a code is a problem of reaching the Gateway. */
export function recoveryOf(failure: Failure): Recovery {
  if (failure.code === undefined) return { action: UNREACHED }
  const nearer = failure.reason === undefined ? undefined : REASONS[failure.code]?.[failure.reason]
  const { owner, action } = nearer ?? RECOVERY[failure.code]
  return { owner: OWNERS[owner], action, sentence: nearer?.sentence }
}

/** The next step as people read it: "For the provider of the Agent: …" when it is not theirs. */
export function nextStep({ owner, action }: Recovery): string {
  return owner === undefined ? action : `For ${owner}: ${action}`
}

/** One sentence and the next step for the situation; the contract's own where no other fits better. */
export function explained(failure: Failure): Sentence {
  const recovery = recoveryOf(failure)
  const { operation, code, reason } = failure
  const own = code === undefined ? undefined : situationOf(operation, code, reason)
  if (own !== undefined) return own
  const message = code === undefined ? "" : ERROR_CODES[code].message
  return { says: recovery.sentence ?? message, next: nextStep(recovery) }
}
