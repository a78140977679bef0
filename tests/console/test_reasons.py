"""Every reason is shown with its sentence and next step: in a refusal, on the page of an Invocation and in a Trace."""

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from aop.contracts.errors import ErrorCode, Reason, code_entries, reason_pairs
from aop.contracts.recovery import recovery_of
from tests.console.browser import Tab
from tests.console.recorded import Call, ago, record

pytestmark = pytest.mark.second_ring

_TRACE = "5" * 32
Pair = tuple[ErrorCode, Reason]
PAIRS = sorted(pair for pair in reason_pairs() if pair[0] is not ErrorCode.UNAUTHENTICATED)
"""A token that is no longer taken leads to sign-in instead."""
REAL = {
    "/workspaces/nowhere": (ErrorCode.NOT_FOUND, Reason.WORKSPACE_UNKNOWN),
    "/agents/acme:nobody": (ErrorCode.NOT_FOUND, Reason.AGENT_UNKNOWN),
    f"/releases/rel_{'0' * 32}": (ErrorCode.NOT_FOUND, Reason.RELEASE_UNKNOWN),
    f"/workspaces/demo/invocations/inv_{'0' * 32}": (ErrorCode.NOT_FOUND, Reason.INVOCATION_UNKNOWN),
    f"/workspaces/demo/traces/{_TRACE}": (ErrorCode.NOT_FOUND, Reason.TRACE_UNKNOWN),
}


def require_explained(place: Locator, pair: Pair) -> None:
    recovery = recovery_of(*pair)
    for said in (*pair, recovery.sentence or "", recovery.action):
        expect(place).to_contain_text(said.replace("`", ""))  # a command is shown as code


def chosen(pairs: list[Pair], thorough: bool) -> list[Pair]:
    """All of them, or one for each code, which are shown by the same code from the same table."""
    return pairs if thorough else list({pair[0]: pair for pair in pairs}.values())


def follow(page: Page, path: str) -> None:
    """As a link of the Console does it: the page stays, the screen is another."""
    page.evaluate("(address) => history.pushState(null, '', address)", path)


@pytest.mark.rows("REAS-01")
def test_a_refusal_shows_its_reason_with_sentence_and_next_step(tab: Tab, thorough: bool) -> None:
    page = tab.open("/discover")
    page.get_by_role("article").first.wait_for()
    for path, pair in REAL.items():
        follow(page, path)
        require_explained(page.get_by_role("alert").filter(has_text=pair[1]), pair)
    code, reason = PAIRS[0]

    def refuse(route: Route) -> None:
        body = {"code": code, "message": "text that must not be shown", "reason": reason, "traceId": _TRACE}
        origin = {"access-control-allow-origin": tab.stack.console}
        route.fulfill(status=code_entries()[code].status, json=body, headers=origin)

    page.route("**/v1/agents/refused-*", refuse)
    for place, (code, reason) in enumerate(chosen(PAIRS, thorough)):
        follow(page, f"/agents/refused-{place}")
        require_explained(page.get_by_role("alert").filter(has_text=reason), (code, reason))


@pytest.mark.rows("REAS-01")
def test_a_failed_invocation_shows_its_reason_on_its_page_and_in_its_trace(tab: Tab, thorough: bool) -> None:
    """What the Ledger holds of it, for every code that a terminal may carry."""
    workspace_id = tab.stack.workspace("reasons")
    before = {code for code in ErrorCode if not _is_recorded(code)}
    pairs = chosen([pair for pair in PAIRS if pair[0] not in before], thorough)
    calls = {
        pair: Call(workspace_id, ago(minutes=5), outcome="failed", error_code=pair[0], reason=pair[1]) for pair in pairs
    }
    record(tab.stack, calls.values())
    page = tab.open(f"/workspaces/{workspace_id}/invocations")
    expect(page.get_by_title(f"{pairs[0][0]} {pairs[0][1]}").first).to_be_visible()
    for pair, call in calls.items():
        follow(page, f"/workspaces/{workspace_id}/invocations/{call.invocation_id}")
        require_explained(page.get_by_role("main").filter(has_text=call.invocation_id[:8]), pair)
        expect(page.get_by_role("list", name="Events").get_by_role("listitem").last).to_contain_text(" ".join(pair))
    follow(page, f"/workspaces/{workspace_id}/traces/{call.trace_id}?invocation={call.invocation_id}")
    require_explained(page.get_by_role("region", name=call.capability), pair)


def _is_recorded(code: ErrorCode) -> bool:
    return code in {
        ErrorCode.AGENT_UNAVAILABLE,
        ErrorCode.ROUTE_NOT_FOUND,
        ErrorCode.AGENT_EXECUTION_FAILED,
        ErrorCode.A2A_PROTOCOL_ERROR,
        ErrorCode.AGENT_RESPONSE_TOO_LARGE,
        ErrorCode.DEPENDENCY_ERROR,
    }
