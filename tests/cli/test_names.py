"""Names that imitate others, and what an installed Agent may do: told where somebody decides."""

from pathlib import Path

import pytest

from tests.cli.conftest import Aop, Greeter, Stack
from tests.cli.terminal import at_terminal

pytestmark = [pytest.mark.rows("SAFE-10"), pytest.mark.second_ring]


@pytest.fixture
def imitation(aop: Aop, alone: Aop, stack: Stack, greeter: Greeter) -> str:
    """Published by somebody else under the prefix of the samples, with a letter of another script in its name."""
    owner = stack.new_id("bob")
    token = aop("token", "create", "--principal", owner, "--data", str(stack.platform.data), "--json").json["token"]
    agent_id = stack.new_id("aop:summarizer-pro")
    file, _ = greeter.card(agentId=agent_id, name="Summ\u0430rizer", owner={"id": owner, "displayName": "AOP samples"})
    done = alone("publish", file, AOP_GATEWAY=stack.run["gateway"], AOP_TOKEN=token)
    assert done.code == 0, done.err
    return agent_id


def test_the_agent_is_shown_with_its_exact_id_its_owner_and_warnings(aop: Aop, imitation: str) -> None:
    shown = aop("agent", "show", imitation).out
    assert shown.startswith(f"{imitation} 1.0.0")
    owner = aop("agent", "show", imitation, "--json").json["versions"][0]["card"]["owner"]["id"]
    assert f"AOP samples ({owner})" in shown
    warnings = [line for line in shown.splitlines() if line.startswith("warning")]
    assert [word in " ".join(warnings) for word in ("prefix aop", "aop:summarizer of local", "scripts")] == [True] * 3
    told = aop("agent", "show", imitation, "--json").json["resembles"]
    assert {one["part"] for one in told} == {"prefix", "name"}


def test_the_consent_warns_before_it_asks(stack: Stack, imitation: str, workspace: str, tmp_path: Path) -> None:
    asked = at_terminal(
        "install", imitation, "-w", workspace,
        answers={"[y/N]": "n\n"}, folder=tmp_path, data=stack.platform.data, NO_COLOR="1",
    ).screen.partition("[y/N]")[0]  # fmt: skip
    for text in (imitation, "shown as AOP samples", "prefix aop", "looks like aop:summarizer of local", "scripts"):
        assert text in asked


def test_an_agent_that_imitates_nobody_has_no_warning(aop: Aop) -> None:
    assert "warning" not in aop("agent", "show", "aop:summarizer").out
    assert aop("agent", "show", "aop:summarizer", "--json").json["resembles"] == []


def test_the_consent_says_what_an_installed_agent_may_call(stack: Stack, workspace: str, tmp_path: Path) -> None:
    asked = at_terminal(
        "install", "aop:summarizer", "-w", workspace,
        answers={"[y/N]": "n\n"}, folder=tmp_path, data=stack.platform.data,
    ).screen  # fmt: skip
    assert f"It may call any Skill that the Workspace {workspace} may use." in asked
    security = (Path(__file__).parents[2] / "docs" / "security.md").read_text("utf-8")
    _, _, unprotected = security.partition("## Not protected against")
    assert "may call every Skill that its Workspace may use" in " ".join(unprotected.split())
