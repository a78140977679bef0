"""By route, the screens that the rich data fills: where they are and what of the data shows that they are complete."""

from collections.abc import Callable

from playwright.sync_api import Page, ViewportSize

from tests.console.browser import Tab
from tests.console.lineage_states import invocation_path, trace_path
from tests.console.recorded import Call
from tests.console.rich.published import DRAFTS
from tests.console.rich.stack import Rich
from tests.console.rich.workspaces import EMPTY, LARGE, SHARED_BY_OTHERS
from tests.console.screens import Screen, pressed

WIDER: ViewportSize = {"width": 1440, "height": 900}
_SPACE = f"/workspaces/{LARGE}"
_HOSTILE = ("mallory:markup", "mallory:long-words", "mallory:turned", "aop:summarlzer")
Screens = tuple[Screen, ...]


def opened(tab: Tab, screen: Screen) -> Page:
    """The screen once it is complete, with room for all that it shows."""
    tab.page.set_viewport_size(WIDER)
    page = tab.open(screen.address(tab.stack), signed_in=screen.signed_in)
    page.get_by_text(screen.shows).filter(visible=True).first.wait_for()
    screen.act(page, tab.stack)
    return page


def _agent(rich: Rich) -> Screens:
    tabs = ("overview", "versions", "difference", "use")
    known = (Screen(f"agent-{tab}", f"/agents/acme:translator?tab={tab}", "Translator") for tab in tabs)
    hostile = (Screen(f"agent-{name}", f"/agents/{name}", name) for name in _HOSTILE)
    return (
        *known,
        *(Screen(each.name.replace(":", "-"), each.path, each.shows) for each in hostile),
        Screen("agent-big-schema", "/agents/acme:invoice-matcher", "Invoice matcher"),
        Screen("agent-suspended", "/agents/acme:news-watch", "News watch"),
        Screen("agent-revoked", "/agents/northwind:label-printer", "Label printer"),
        Screen("agent-consent", "/agents/acme:release-notes", "Release notes", pressed("Install")),
    )


def _share(rich: Rich) -> Screens:
    return (
        Screen("share", rich.share_path("acme:translator"), "Translator", signed_in=False),
        Screen("share-hostile", rich.share_path("mallory:markup"), "Markup", signed_in=False),
    )


def _release(rich: Rich) -> Screens:
    return tuple(
        Screen(name, f"/releases/{rich.published.newest(agent_id)['releaseId']}", agent_id)
        for name, agent_id in (
            ("release", "acme:translator"),
            ("release-suspended", "acme:news-watch"),
            ("release-revoked", "northwind:label-printer"),
            ("release-hostile", "mallory:long-words"),
        )
    )


def _publish(rich: Rich) -> Screens:
    steps = zip(("publish-registered", "publish-bound"), DRAFTS, ("acme", "northwind"), strict=True)
    drafts = (Screen(name, f"/publish?agent={agent}&version=1.0.0&provider={by}", agent) for name, agent, by in steps)
    return (Screen("publish", "/publish", "Card as JSON"), *drafts)


def _workspace(rich: Rich) -> Screens:
    return (
        Screen("workspace", _SPACE, "Paper search"),
        Screen("workspace-history", f"{_SPACE}?view=history", "Returns"),
        Screen("workspace-empty", f"/workspaces/{EMPTY}", EMPTY),
        Screen("workspace-as-caller", f"/workspaces/{SHARED_BY_OTHERS}", "Paper search"),
    )


def _playground(rich: Rich) -> Screens:
    chosen = (
        ("playground", "aop:summarizer"),
        ("playground-text", "acme:sentiment"),
        ("playground-kinds", "acme:contract-reader"),
        ("playground-big-schema", "acme:invoice-matcher"),
        ("playground-hostile", "mallory:markup"),
        ("playground-long-words", "mallory:long-words"),
    )
    return tuple(Screen(name, f"{_SPACE}/playground?agent={agent_id}", "Run") for name, agent_id in chosen)


def _invocation(rich: Rich) -> Screens:
    of = {"invocation": rich.traces.recursive, "invocation-canceled": rich.traces.canceled}
    return tuple(Screen(name, invocation_path(call), call.invocation_id[-6:]) for name, call in of.items())


def _trace(rich: Rich) -> Screens:
    traces = rich.traces
    named = {
        "long": traces.long,
        "recursive": traces.recursive,
        "many-agents": traces.many_agents,
        "running": traces.running,
        "interrupted": traces.interrupted,
        "canceled": traces.canceled,
    }
    rows = (Screen(f"trace-{name}", trace_path(call), call.capability) for name, call in named.items())
    drawn = ("long", "recursive", "many-agents")
    graphs = (Screen(f"graph-{name}", _graph(named[name]), named[name].capability) for name in drawn)
    return (*rows, *graphs)


def _graph(call: Call) -> str:
    return f"{trace_path(call)}?view=graph"


def _always(*screens: Screen) -> Callable[[Rich], Screens]:
    return lambda rich: screens


SCREENS: dict[str, Callable[[Rich], Screens]] = {
    "/sign-in": _always(Screen("sign-in", "/sign-in", "Access token", signed_in=False)),
    "/a/$publicAgentId": _share,
    "/": _always(Screen("home", "/", "Proven endpoint")),
    "/discover": _always(
        Screen("discover", "/discover", "Proven endpoint"),
        Screen("discover-found", "/discover?query=translator", "acme:translator"),
        Screen("discover-hostile", "/discover?owner=mallory", "Markup"),
        Screen("discover-nothing", "/discover?query=zzzzzzzz", "No published Agent matches"),
    ),
    "/agents/$agentId": _agent,
    "/publish": _publish,
    "/my-agents": _always(
        Screen("my-agents", "/my-agents?provider=acme", "acme:translator"),
        Screen("my-agents-northwind", "/my-agents?provider=northwind", "northwind:order-desk"),
    ),
    "/releases/$releaseId": _release,
    "/workspaces": _always(Screen("workspaces", "/workspaces", SHARED_BY_OTHERS)),
    "/workspaces/$workspaceId": _workspace,
    "/workspaces/$workspaceId/playground": _playground,
    "/workspaces/$workspaceId/connect": _always(
        Screen("connect", f"{_SPACE}/connect?agent=aop:summarizer&from=cursor-http", "mcpServers"),
        Screen("connect-hostile", f"{_SPACE}/connect?agent=mallory:markup&from=a2a-python", "asyncio.run"),
    ),
    "/workspaces/$workspaceId/invocations": _always(
        Screen("invocations", f"{_SPACE}/invocations", "acme:"),
        Screen("invocations-failed", f"{_SPACE}/invocations?status=failed&code=AGENT_UNAVAILABLE", "acme:"),
        Screen("invocations-slowest", f"{_SPACE}/invocations?order=slowest", "walk-tree"),
    ),
    "/workspaces/$workspaceId/traces": _always(
        Screen("traces", f"{_SPACE}/traces", "acme:"),
        Screen("traces-failed", f"{_SPACE}/traces?status=failed&last=1h", "acme:"),
        Screen("traces-empty", f"/workspaces/{EMPTY}/traces", "Nothing"),
    ),
    "/workspaces/$workspaceId/invocations/$invocationId": _invocation,
    "/workspaces/$workspaceId/traces/$traceId": _trace,
    "/workspaces/$workspaceId/people": _always(
        Screen("people", f"{_SPACE}/people", "dora"),
        Screen("people-as-caller", f"/workspaces/{SHARED_BY_OTHERS}/people", "dora"),
    ),
    "/status": _always(
        Screen("status", f"/status?workspace={LARGE}", "AGENT_UNAVAILABLE"),
        Screen("status-day", f"/status?workspace={LARGE}&last=24h", "AGENT_UNAVAILABLE"),
    ),
    "/tokens": _always(Screen("tokens", "/tokens", "Sessions")),
    "/sign-in-code": _always(Screen("sign-in-code", "/sign-in-code", "Show a code")),
    "$": _always(Screen("not-found", "/no/such/page", "This page does not exist.")),
}
