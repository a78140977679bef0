/** What a refusal means while somebody publishes: Cards, Bindings, challenges and Releases. */

import { say, type Situation, type Situations } from "@/api/situation"

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

export const PUBLISHING: Situations = {
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
}
