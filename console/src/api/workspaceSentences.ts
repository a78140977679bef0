/** What a refusal means in a Workspace: its callers, its Installations and its calls. */

import { say, type Situation, type Situations } from "@/api/situation"

const NOT_MY_WORKSPACE = say(
  "This Workspace belongs to another account.",
  "Ask its owner to do this, or sign in with the owner's account.",
)
const NO_WORKSPACE = say("There is no such Workspace.", "Choose one of your Workspaces.")
const ENDED_VERSION = "Ask the provider for another version and upgrade to it."

const IN_WORKSPACE: Situation = {
  FORBIDDEN: NOT_MY_WORKSPACE,
  workspace_unknown: NO_WORKSPACE,
  installation_unknown: say("This Agent is no longer installed here.", "Reload the page to see what is."),
  installation_state: say(
    "The Installation was changed in the meantime.",
    "Reload the page. An uninstalled Agent stays so; install it again instead.",
  ),
}

export const IN_WORKSPACES: Situations = {
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
