"""Every screen of the Console by name: where it is, what shows that it is there, how to reach a special state."""

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page

from tests.console import find_states, lineage_states, people, playground_states, status_states, workspace_states
from tests.console.stack import Stack, a_card

Place = Callable[[Stack], str]
Act = Callable[[Page, Stack], None]


def _nothing(page: Page, stack: Stack) -> None:
    pass


def pressed(name: str) -> Act:
    """Presses the button of that name."""
    return lambda page, stack: page.get_by_role("button", name=name, exact=True).click()


def first_button(page: Page, name: str) -> None:
    """Presses the first of the buttons whose name begins so."""
    page.get_by_role("button", name=name).first.click()


def _share(stack: Stack) -> str:
    overview = stack.caller.get("/v1/agents/aop:summarizer").json
    return str(overview["publicUrl"]).removeprefix(stack.console)


def registered(stack: Stack) -> str:
    entry = stack.register(agentId=stack.agent_id("registered"), name="Registered Agent")
    return f"/publish?agent={entry['agentId']}&version=1.0.0&provider=aop"


def bound(stack: Stack) -> str:
    entry = stack.register(agentId=stack.agent_id("bound"), name="Bound Agent")
    stack.bind(entry["agentId"])
    return f"/publish?agent={entry['agentId']}&version=1.0.0&provider=aop"


def _published(stack: Stack) -> str:
    release = stack.publish(agentId=stack.agent_id("published"), name="Published Agent")
    return f"/publish?agent={release['agentId']}&version=1.0.0"


def _release(stack: Stack) -> str:
    return f"/releases/{stack.publish(agentId=stack.agent_id('release'))['releaseId']}"


def _refused_card(page: Page, stack: Stack) -> None:
    page.get_by_role("button", name="Register the Card").click()
    page.get_by_text("Nothing was sent").wait_for()


def _failed_proof(page: Page, stack: Stack) -> None:
    page.get_by_role("button", name="Create a challenge").click()
    page.get_by_role("button", name="Check now").click()
    page.get_by_text("The endpoint was not proven").wait_for()


def two_versions(stack: Stack) -> str:
    """An Agent of which nearly everything changed with its second version."""
    agent_id = stack.agent_id("changed")
    stack.publish(agentId=agent_id, name="Changed Agent")
    skill = {
        **a_card(stack)["skills"][0],
        "inputSchema": {
            "type": "object",
            "required": ["text", "language"],
            "properties": {"text": {"type": "string", "maxLength": 5000}, "language": {"enum": ["en", "de"]}},
        },
        "outputSchema": {"type": "object", "properties": {"points": {"type": "array", "items": {"type": "string"}}}},
        "requiredPermissions": ["text.read", "mail.send"],
    }
    permissions = [*a_card(stack)["permissions"], {"id": "mail.send", "description": "Sends the summary by mail."}]
    limits = {"timeoutMs": 10000, "maxInputBytes": 131072, "maxOutputBytes": 65536, "streaming": False}
    stack.publish(
        agentId=agent_id,
        version="2.0.0",
        name="Changed Agent",
        skills=[skill],
        permissions=permissions,
        limits=limits,
    )
    return f"/agents/{agent_id}?version=2.0.0&tab=difference"


def _busy(view: str = "") -> Place:
    return lambda stack: f"/workspaces/{workspace_states.a_busy_workspace(stack)}{view}"


def _playground(**search: str) -> Place:
    return lambda stack: playground_states.with_samples(stack, **search)


@dataclass(frozen=True)
class Screen:
    name: str
    path: str | Place
    shows: str
    """Text that is there once the screen is complete."""
    act: Act = _nothing
    """Brings the screen into the state that is meant, a dialog opened for instance."""
    signed_in: bool = True

    def address(self, stack: Stack) -> str:
        return self.path if isinstance(self.path, str) else self.path(stack)


SCREENS: tuple[Screen, ...] = (
    Screen("sign-in", "/sign-in", "Access token", signed_in=False),
    Screen("sign-in-refused", "/#code=used", "aop open", signed_in=False),
    Screen("sign-in-switch", "/discover", "Proven endpoint", people.with_a_link_of_another),
    Screen("discover", "/discover", "Proven endpoint"),
    Screen("discover-empty", "/discover?query=no+such+agent+anywhere", "No published Agent matches."),
    Screen("discover-loading", "/discover", "Proven endpoint", find_states.loading("Agents", "**/v1/agents?*")),
    Screen("discover-failed", "/discover", "Proven endpoint", find_states.store_is_down),
    Screen("discover-find", "/discover", "Proven endpoint", find_states.searched("summarizer")),
    Screen("discover-find-nothing", "/discover", "Proven endpoint", find_states.searched("5" * 32)),
    Screen("discover-shortcuts", "/discover", "Proven endpoint", lambda page, stack: page.keyboard.press("?")),
    Screen("discover-share-link", "/discover", "Proven endpoint", pressed("Open a share link")),
    Screen("agent", "/agents/aop:summarizer", "Rank sentences"),
    Screen("agent-versions", "/agents/aop:summarizer?tab=versions", "1.0.0"),
    Screen("agent-difference", two_versions, "changes to review"),
    Screen("agent-use", "/agents/aop:summarizer?tab=use", "AOP_TOKEN"),
    Screen(
        "agent-install",
        "/agents/aop:meeting-brief?open=install",
        "Already installed",
        find_states.into_a_new_workspace,
    ),
    Screen("agent-installed", "/agents/aop:summarizer?open=install", "Already installed"),
    Screen("agent-unknown", "/agents/no-such-agent", "There is no Agent with this id."),
    Screen("share", _share, "Newest version", signed_in=False),
    Screen("share-chosen", _share, "Newest version", lambda page, stack: page.get_by_role("radio").first.check()),
    Screen("share-refused", "/a/agt_0", "not a share link", signed_in=False),
    Screen("publish", "/publish", "Register the Card"),
    Screen("publish-refused", "/publish", "Register the Card", _refused_card),
    Screen("publish-binding", registered, "Bind the endpoint"),
    Screen("publish-proof", bound, "Create a challenge", pressed("Create a challenge")),
    Screen("publish-proof-failed", bound, "Create a challenge", _failed_proof),
    Screen("publish-done", _published, "Open the Agent page"),
    Screen("my-agents", "/my-agents", "New version"),
    Screen("my-agents-empty", "/my-agents", "New version", find_states.without_agents),
    Screen("release", _release, "These facts never change."),
    Screen("release-revoke", _release, "These facts never change.", pressed("Revoke")),
    Screen("workspaces", "/workspaces", "created"),
    Screen("workspace", _busy(), "is available"),
    Screen("workspace-empty", lambda stack: f"/workspaces/{stack.workspace()}", "Nothing is installed here."),
    Screen("workspace-history", _busy("?view=history"), "Uninstalled"),
    Screen("workspace-opened", _busy("?agent=aop:summarizer"), "Change version or permissions"),
    Screen(
        "workspace-disable",
        _busy("?agent=aop:summarizer"),
        "is available",
        lambda page, stack: first_button(page, "Disable"),
    ),
    Screen(
        "workspace-uninstall",
        _busy("?agent=aop:summarizer"),
        "is available",
        lambda page, stack: first_button(page, "Uninstall"),
    ),
    Screen("workspace-upgrade", _busy(), "is available", pressed("Upgrade to 1.1.0")),
    Screen("people", people.shared, "Former callers"),
    Screen("people-caller", people.shared, "Former callers", people.as_a_caller),
    Screen("workspace-unknown", "/workspaces/no-such-workspace", "There is no Workspace with this id."),
    Screen("playground", _playground(agent="aop:summarizer"), "Nothing has run yet."),
    Screen("playground-json", _playground(view="json"), "Nothing has run yet."),
    Screen("playground-list", _playground(agent="aop:meeting-brief", capability="write-agenda"), "Add to topics"),
    Screen("playground-kinds", playground_states.with_many_kinds, "Nothing has run yet."),
    Screen(
        "playground-text",
        _playground(agent="aop:summarizer", mode="json"),
        "Nothing has run yet.",
        playground_states.run_to_its_end,
    ),
    Screen(
        "playground-table",
        _playground(agent="aop:summarizer", capability="rank-sentences"),
        "Nothing has run yet.",
        playground_states.run_to_its_end,
    ),
    Screen(
        "playground-tree",
        _playground(agent="aop:meeting-brief", capability="brief-meeting", mode="json"),
        "Nothing has run yet.",
        playground_states.run_to_its_end,
    ),
    Screen(
        "playground-stopped",
        _playground(agent="aop:summarizer", capability="read-aloud"),
        "Nothing has run yet.",
        playground_states.read_aloud_and_stop,
    ),
    Screen(
        "playground-refused",
        playground_states.with_many_kinds,
        "Nothing has run yet.",
        playground_states.run_what_is_wrong,
    ),
    Screen(
        "playground-failed",
        playground_states.with_many_kinds,
        "Nothing has run yet.",
        playground_states.run_what_fails,
    ),
    Screen("playground-agents", _playground(), "Nothing has run yet.", playground_states.open_choice),
    Screen(
        "playground-elsewhere",
        _playground(agent="aop:summarizer", capability="read-aloud"),
        "Nothing has run yet.",
        playground_states.run_and_go_elsewhere,
    ),
    Screen("playground-disabled", _playground(agent="aop:action-items"), "is disabled in this Workspace."),
    Screen("playground-empty", lambda stack: playground_states.playground(stack.workspace()), "No Agent can be"),
    Screen("connect", "/workspaces/demo/connect?agent=aop:summarizer&from=cursor-http", "mcpServers"),
    Screen("connect-code", "/workspaces/demo/connect?agent=aop:summarizer&from=a2a-python", "asyncio.run"),
    Screen("connect-empty", lambda stack: f"/workspaces/{stack.workspace()}/connect", "No Agent can be"),
    Screen("invocations", lineage_states.invocations, "Interrupted"),
    Screen(
        "invocations-loading",
        lineage_states.invocations,
        "Interrupted",
        find_states.loading("Invocations", "**/invocations?*"),
    ),
    Screen(
        "invocations-empty", lambda stack: f"/workspaces/{stack.workspace()}/invocations", "Nothing has been invoked"
    ),
    Screen(
        "invocations-no-match", lambda stack: f"{lineage_states.invocations(stack)}?status=pending", "No Invocation"
    ),
    Screen("invocation", lineage_states.caller_of_others, "brief-meeting"),
    Screen("invocation-failed", lineage_states.one(1), "it called no other Agent"),
    Screen("invocation-canceled", lineage_states.one(2), "it called no other Agent"),
    Screen("invocation-interrupted", lineage_states.one(4), "it called no other Agent"),
    Screen(
        "invocation-unknown", "/workspaces/demo/invocations/inv_0", "There is no such Invocation in this Workspace."
    ),
    Screen("traces", lineage_states.traces, "4 calls"),
    Screen("traces-views", lineage_states.traces, "4 calls", pressed("Views")),
    Screen("trace", lineage_states.trace(), "to be done within"),
    Screen("trace-failed", lineage_states.trace(chosen=2), "The Invocation failed."),
    Screen("trace-deadlines", lineage_states.trace(view="&deadlines=true"), "to be done within"),
    Screen("trace-interrupted", lineage_states.interrupted_trace, "The Invocation was interrupted."),
    Screen("trace-skills", lineage_states.trace(view="&view=skills"), "All time"),
    Screen("trace-compared", lineage_states.compared, "The second took"),
    Screen("trace-graph", lineage_states.trace(chosen=1, view="&view=graph"), "to be done within"),
    Screen("tokens", "/tokens", "Sessions"),
    Screen("tokens-made", "/tokens", "Sessions", people.with_a_new_token),
    Screen("sign-in-code", "/sign-in-code", "Show a code"),
    Screen("status", lineage_states.status, "Failures"),
    Screen("status-quiet", lambda stack: f"/status?workspace={stack.workspace()}", "0.0 a minute"),
    Screen("status-not-well", status_states.burst, "The scale ends at", status_states.with_routers_not_well),
    Screen("not-found", "/no/such/page", "This page does not exist."),
)
