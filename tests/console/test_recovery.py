"""Every failure the Gateway can tell is a sentence with its next action; code, status and trace are under Details."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from tests.console.browser import Tab

pytestmark = pytest.mark.second_ring

_ERRORS = Path(__file__).resolve().parents[2] / "contracts" / "platform-error"
_TRACE = "5" * 32


def _entries(name: str) -> dict[str, dict[str, Any]]:
    return {entry["code"]: entry for entry in json.loads((_ERRORS / name).read_text())["codes"]}


@pytest.mark.rows("CON-06")
def test_every_code_is_shown_with_status_trace_and_recovery(tab: Tab) -> None:
    codes, recovery = _entries("codes.json"), _entries("recovery.json")
    code = ""

    def refuse(route: Route) -> None:
        body = {"code": code, "message": "text that must not be shown", "traceId": _TRACE}
        origin = {"access-control-allow-origin": tab.stack.console}
        route.fulfill(status=codes[code]["status"], json=body, headers=origin)

    page = tab.open("/discover")
    page.get_by_role("article").first.wait_for()
    page.route("**/v1/agents/broken-*", refuse)
    # A token that is no longer taken leads to sign-in instead; that has a test of its own.
    for place, code in enumerate(sorted(set(codes) - {"UNAUTHENTICATED"})):
        # As a link of the Console does it: the page stays, the screen is another.
        page.evaluate("(address) => history.pushState(null, '', address)", f"/agents/broken-{place}")
        notice = page.get_by_role("alert")
        notice.get_by_text("Details", exact=True).click()
        expect(notice).to_contain_text(codes[code]["message"])
        expect(notice).to_contain_text(code)
        expect(notice).to_contain_text(f"HTTP {codes[code]['status']}")
        expect(notice).to_contain_text(recovery[code]["action"].replace("`", ""))
        expect(notice.get_by_title(_TRACE)).to_be_visible()
        assert "must not be shown" not in page.content()
