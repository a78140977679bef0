/** What a refusal means for the person in front of the screen, by what was tried: one sentence, and what to do next. */

import type { ErrorCode, OperationId, PlatformErrorReason } from "@/api/contract.gen"

export interface Sentence {
  readonly says: string
  readonly next: string
}

type Key = ErrorCode | PlatformErrorReason
type Situation = Readonly<Partial<Record<Key, Sentence>>>

const say = (says: string, next: string): Sentence => ({ says, next })

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

const NOT_MY_WORKSPACE = say(
  "This Workspace belongs to another account.",
  "Ask its owner to do this, or sign in with the owner's account.",
)
const NO_WORKSPACE = say("There is no such Workspace.", "Choose one of your Workspaces.")
const NOT_MY_AGENT = say(
  "This Agent belongs to another account.",
  "Sign in with the account that owns it, or choose another Agent id.",
)
const NO_RELEASE = say("There is no such Release.", "Open My Agents and choose a version there.")
const RELEASE_ENDED = say(
  "The Release was changed in the meantime and no longer permits this.",
  "Reload the page. A suspended or revoked Release stays so; publish a new version instead.",
)
const NO_BINDING = say("There is no such Binding.", "Reload the page and bind the endpoint again.")
const NOT_MY_PROVIDER = say(
  "This provider id belongs to another account.",
  "Choose another provider id, or sign in with the account that owns it.",
)
const FRESH = "Correct it, then create a fresh challenge. Each challenge is checked once."
const ENDED_VERSION = "Ask the provider for another version and upgrade to it."

const CHECKED: Situation = {
  WRONG_PROOF: say(
    "The endpoint answered, but not with the proof.",
    "Create a fresh challenge, because each is checked once. Let the Agent serve exactly its text, without a newline.",
  ),
  REDIRECT_NOT_ALLOWED: say("The proof's address answered with a redirect, which is not followed.", FRESH),
  DISALLOWED_NETWORK: say(
    "The endpoint is in a network that this platform must not contact.",
    "Ask the operator to allow it, or publish a version with another endpoint.",
  ),
  ENDPOINT_UNAVAILABLE: say(
    "The endpoint could not be reached.",
    "Start the Agent and let the platform reach its port. Then create a fresh challenge: each is checked once.",
  ),
  CHALLENGE_EXPIRED: say("The challenge has expired.", "Create a fresh challenge and check it in time."),
  CHALLENGE_REUSED: say(
    "This challenge was already checked; each is checked once.",
    "Create a fresh challenge.",
  ),
  challenge_unknown: say("There is no such challenge.", "Create a fresh challenge."),
  binding_verified: say("The endpoint is proven already.", "Reload the page and continue with the Release."),
}

const RELEASED: Situation = {
  FORBIDDEN: NOT_MY_PROVIDER,
  release_unknown: NO_RELEASE,
  release_state: RELEASE_ENDED,
  CONFLICT: RELEASE_ENDED,
}

const BOUND: Situation = {
  FORBIDDEN: NOT_MY_PROVIDER,
  binding_unknown: NO_BINDING,
  provider_unknown: NO_BINDING,
}

const IN_WORKSPACE: Situation = {
  FORBIDDEN: NOT_MY_WORKSPACE,
  workspace_unknown: NO_WORKSPACE,
  installation_unknown: say("This Agent is no longer installed here.", "Reload the page to see what is."),
  installation_state: say(
    "The Installation was changed in the meantime.",
    "Reload the page. An uninstalled Agent stays so; install it again instead.",
  ),
}

export const SITUATIONS: Readonly<Partial<Record<OperationId, Situation>>> = {
  registerAgentCard: {
    VALIDATION_ERROR: say(
      "The Card is not complete or not correct.",
      "Correct the marked fields, then register it again.",
    ),
    already_exists: say(
      "This version of the Agent is already registered, and a registered version never changes.",
      "Raise the version number, or continue with the registered one in My Agents.",
    ),
    FORBIDDEN: say(
      "The Agent id or the owner id belongs to another account.",
      "Put your account into the owner id, and choose an Agent id of your own.",
    ),
    PAYLOAD_TOO_LARGE: say(
      "The Card is larger than the platform accepts.",
      "Shorten its descriptions and schemas.",
    ),
    CONFLICT: say("This version cannot be registered.", "Raise the version number."),
  },
  disableAgentCard: {
    FORBIDDEN: NOT_MY_AGENT,
    NOT_FOUND: say("There is no such version.", "Reload the page to see the versions."),
  },
  createEndpointBinding: {
    ...BOUND,
    INVALID_ENDPOINT: say(
      "The endpoint cannot be bound as it is in the Card.",
      "Register a new version whose endpoint has neither query nor fragment.",
    ),
    agent_of_other_provider: say(
      "This Agent is already bound to another provider id.",
      "Use the provider id of its first Binding. My Agents shows it.",
    ),
    card_state: say("This version is disabled and stays so.", "Register a new version."),
    CONFLICT: say("The endpoint cannot be bound for this version.", "Register a new version."),
    NOT_FOUND: say("There is no such version.", "Open My Agents and choose a version there."),
  },
  createChallenge: { ...BOUND, ...CHECKED },
  completeChallenge: { ...BOUND, ...CHECKED },
  createRelease: {
    ...BOUND,
    already_exists: say("This version has its Release already.", "Reload the page and continue there."),
    binding_not_verified: say("The endpoint is not proven yet.", "Prove it with a challenge first."),
    binding_failed: say("The last check of the endpoint failed.", "Prove it with a fresh challenge first."),
    card_state: say("This version is disabled and stays so.", "Register a new version."),
    CONFLICT: say("The Release cannot be made now.", "Reload the page to see what is missing."),
    NOT_FOUND: say("There is no such version or Binding.", "Reload the page and go on from there."),
  },
  verifyRelease: {
    ...RELEASED,
    binding_not_verified: say("The endpoint is not proven yet.", "Prove it with a challenge first."),
    binding_failed: say("The last check of the endpoint failed.", "Prove it with a fresh challenge first."),
  },
  publishRelease: {
    ...RELEASED,
    binding_evidence_changed: say(
      "The proof of the endpoint is no longer the one of this Release.",
      "Publish a new version with a Binding of its own.",
    ),
  },
  suspendRelease: RELEASED,
  revokeRelease: RELEASED,
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
  createWorkspace: {
    already_exists: say("A Workspace with this id exists already.", "Choose another id."),
    VALIDATION_ERROR: say("This id is not accepted.", "Use letters, digits and . _ : - only."),
  },
  addCaller: {
    ...IN_WORKSPACE,
    caller_is_owner: say(
      "This account owns the Workspace and can call there already.",
      "Enter another account.",
    ),
    caller_limit: say("The Workspace has as many callers as it may have.", "Remove somebody first."),
    VALIDATION_ERROR: say("This is not an account id.", "Use letters, digits and . _ : - only."),
  },
  removeCaller: {
    ...IN_WORKSPACE,
    caller_unknown: say("This account is no longer a caller here.", "Reload the page to see who is."),
  },
  installAgent: {
    ...IN_WORKSPACE,
    already_installed: say(
      "This Agent is already installed in the Workspace.",
      "Open the Workspace to try it, or to upgrade it to another version.",
    ),
    state_changed: say(
      "The Installation was changed in the meantime. Nothing was replaced.",
      "Reload the page, then decide again.",
    ),
    AGENT_RELEASE_UNPUBLISHED: say("This version is not published.", "Choose another version."),
    AGENT_RELEASE_SUSPENDED: say(
      "This version was suspended and can no longer be installed.",
      "Choose another version.",
    ),
    AGENT_RELEASE_REVOKED: say(
      "This version was revoked and can no longer be installed.",
      "Choose another version.",
    ),
    AGENT_DISABLED: say(
      "This version was disabled and can no longer be installed.",
      "Choose another version.",
    ),
    NOT_FOUND: say("This version can no longer be installed.", "Choose another version."),
    VALIDATION_ERROR: say(
      "The version or a permission is not one of this Agent.",
      "Open the Agent page and choose again.",
    ),
  },
  updateInstallation: IN_WORKSPACE,
  uninstallAgent: IN_WORKSPACE,
  invokeAgent: {
    VALIDATION_ERROR: say(
      "The Skill does not accept this input.",
      "Correct the marked fields, then run it again.",
    ),
    FORBIDDEN: say(
      "You may not call Agents in this Workspace.",
      "Ask its owner to add your account as a caller.",
    ),
    workspace_unknown: NO_WORKSPACE,
    AGENT_NOT_INSTALLED: say(
      "This Agent is no longer installed in the Workspace.",
      "Install it again, or choose another.",
    ),
    INSTALLATION_DISABLED: say(
      "This Agent is disabled in the Workspace.",
      "Enable it there, or choose another.",
    ),
    skill_unknown: say("The installed version does not have this Skill.", "Choose one of its Skills."),
    permission_not_accepted: say(
      "This Skill needs a permission that was not accepted when the Agent was installed.",
      "The owner of the Workspace can change the accepted permissions there.",
    ),
    AGENT_DISABLED: say("The provider disabled this version.", ENDED_VERSION),
    AGENT_RELEASE_UNPUBLISHED: say("This version is not published.", ENDED_VERSION),
    AGENT_RELEASE_SUSPENDED: say("This version was suspended. New calls are refused.", ENDED_VERSION),
    AGENT_RELEASE_REVOKED: say("This version was revoked. New calls are refused.", ENDED_VERSION),
    streaming_not_declared: say(
      "This Agent does not stream.",
      "Choose “One JSON result”, then run it again.",
    ),
    AGENT_AUTH_UNSUPPORTED: say(
      "The Agent asks for an authentication that the Router does not offer.",
      "Ask its provider for a version with http_bearer, or to put `aop front` before the Agent.",
    ),
    CANCELED: say("The Invocation was canceled.", "Run it again if you still need the result."),
    TIMEOUT: say(
      "The Agent did not finish in time. It may have done part of the work.",
      "Open the Trace to see where the time went. Find out what was done before you run it again.",
    ),
  },
}

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
