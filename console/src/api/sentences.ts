/** What a refusal means for the person in front of the screen, by what was tried: one sentence, and what to do next. */

import type { ErrorCode, OperationId, PlatformErrorReason } from "@/api/contract.gen"
import { PUBLISHING } from "@/api/publishingSentences"
import { say, type Sentence, type Situations } from "@/api/situation"
import { IN_WORKSPACES } from "@/api/workspaceSentences"

const LOOK_FIRST = "The request may have taken effect. Look at the current state before you try again."
const ASK_OPERATOR =
  "Open Status to see what is down. If it lasts, give the trace under Details to the operator."

/** What is true whatever was tried; the codes of an Agent's failure have reasons that say more. */
export const ANYWHERE: Readonly<Partial<Record<ErrorCode, Sentence>>> = {
  VALIDATION_ERROR: say("Some values are not accepted.", "Correct them, then send it again."),
  UNAUTHENTICATED: say("You are not signed in any more.", "Sign in again."),
  FORBIDDEN: say("Your account may not do this.", "Ask the owner, or sign in with the owner's account."),
  NOT_FOUND: say("This does not exist, or exists no longer.", "Check the address, or search for it."),
  NOT_ACCEPTABLE: say(
    "The browser asked for an answer in a form that is not offered.",
    "Reload the page, then try again.",
  ),
  CONFLICT: say("This is not possible in its current state.", "Reload the page to see the current state."),
  PAYLOAD_TOO_LARGE: say("This is larger than the platform accepts. Nothing was started.", "Send less."),
  INTERNAL_ERROR: say(
    "The platform has a fault.",
    `${LOOK_FIRST} Give the trace under Details to the operator.`,
  ),
  DEPENDENCY_ERROR: say("A part of the platform did not answer.", `${LOOK_FIRST} ${ASK_OPERATOR}`),
  OVERLOADED: say("The platform is busy. Nothing was started.", "Wait a few seconds, then try again."),
}

const ACCOUNT: Situations = {
  createMyToken: {
    token_limit: say(
      "You have as many tokens as one account may have, or made too many today.",
      "Revoke tokens you no longer need, then try again.",
    ),
    VALIDATION_ERROR: say("The label or the number of days is not accepted.", "Correct it, then try again."),
  },
  revokeMyToken: { NOT_FOUND: say("This token is gone already.", "Reload the page to see your tokens.") },
  revokePresentedToken: {
    token_of_openid_provider: say(
      "You signed in at another provider, and only that provider can end this session.",
      "Sign out there.",
    ),
  },
  createSignInCode: {
    token_limit: say(
      "You have too many open sign-in codes or tokens.",
      "Use an open code, or wait ten minutes until it has expired.",
    ),
  },
  signIn: {
    UNAUTHENTICATED: say(
      "This sign-in link was used already, or has expired.",
      "Make another with `aop open`, or sign in with a token.",
    ),
  },
}

export const SITUATIONS: Situations = { ...PUBLISHING, ...ACCOUNT, ...IN_WORKSPACES }

/** The nearest sentence: of the reason for what was tried, then of its code there. */
export function situationOf(
  operation: OperationId | undefined,
  code: ErrorCode,
  reason: PlatformErrorReason | undefined,
): Sentence | undefined {
  const own = operation === undefined ? undefined : SITUATIONS[operation]
  if (reason !== undefined && own?.[reason] !== undefined) return own[reason]
  // A reason that has no sentence here has one in the contract, which is nearer than that of its code.
  return reason === undefined ? (own?.[code] ?? ANYWHERE[code]) : undefined
}
