"""States of the page Status: Routers that are not well, and an hour in which one minute was busier than all others."""

import json
from typing import Any

from playwright.sync_api import Page

from tests.console.recorded import Call, ago, record
from tests.console.stack import Stack
from tests.support.contracts import CONTRACTS

_EXAMPLES = CONTRACTS / "health" / "1" / "examples" / "valid" / "platformStatus"


def answer_status(page: Page, stack: Stack, status: dict[str, Any]) -> None:
    """What the Gateway answers from here on."""
    granted = {"access-control-allow-origin": stack.console}
    page.route("**/v1/status", lambda route: route.fulfill(json=status, headers=granted))


def routers_not_well() -> dict[str, Any]:
    """One that is behind with everything, and one that does not answer."""
    status: dict[str, Any] = json.loads((_EXAMPLES / "router-behind.json").read_bytes())
    return {**status, "routers": [*status["routers"], {"status": "unavailable"}]}


def with_routers_not_well(page: Page, stack: Stack) -> None:
    answer_status(page, stack, routers_not_well())
    page.reload()
    page.get_by_text("It gives no usable answer.").wait_for()
    page.get_by_role("figure").wait_for()


def burst(stack: Stack) -> str:
    """Two calls a minute, and 72 in one of them."""
    workspace_id = stack.workspace("burst")
    times = [ago(minutes=minute) for minute in range(2, 50)]
    record(stack, [Call(workspace_id, at) for at in (*times, *times, *([times[20]] * 70))])
    return f"/status?workspace={workspace_id}"
