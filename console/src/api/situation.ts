/** What a sentence of the Console is: of a code or a reason, for what was tried. */

import type { ErrorCode, OperationId, PlatformErrorReason } from "@/api/contract.gen"

export interface Sentence {
  readonly says: string
  readonly next: string
}

/** The sentences of one operation. */
export type Situation = Readonly<Partial<Record<ErrorCode | PlatformErrorReason, Sentence>>>
export type Situations = Readonly<Partial<Record<OperationId, Situation>>>

export const say = (says: string, next: string): Sentence => ({ says, next })
