"""The rich data itself: a Ledger that holds, and as much of everything as it promises."""

import json
from pathlib import Path

import pytest

from tests.cli.programs import ended
from tests.console.rich.invocations import COUNT, LONG_TRACE
from tests.console.rich.screens import SCREENS
from tests.console.rich.stack import Rich
from tests.console.rich.workspaces import LARGE
from tests.console.routes import routes

pytestmark = pytest.mark.second_ring


def test_every_route_of_the_console_has_a_screen_here() -> None:
    assert set(SCREENS) == set(routes())


@pytest.mark.long
def test_the_ledger_holds_and_nothing_is_missing(rich: Rich, tmp_path: Path) -> None:
    checked = ended("ledger", "check", "--json", data=rich.stack.platform.data, folder=tmp_path)
    counts = json.loads(checked.stdout.splitlines()[-1])
    assert counts["broken"] == 0, checked.stdout
    assert counts["checked"] > COUNT
    assert len(rich.published.offers) + 3 == 45
    traces = f"/v1/workspaces/{LARGE}/traces"
    lengths = {"long": LONG_TRACE, "recursive": 15, "many_agents": 35}
    for name, length in lengths.items():
        found = rich.stack.caller.get(f"{traces}/{getattr(rich.traces, name).trace_id}").json["invocations"]
        assert len(found) == length, name
