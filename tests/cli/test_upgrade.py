"""Moving Installations to another version, and ending a Release, from the command line."""

from pathlib import Path

import pytest

from tests.cli.conftest import Aop, Greeter
from tests.cli.terminal import at_terminal
from tests.cli.unable import unable_to

pytestmark = pytest.mark.second_ring

_NEWER = {
    "permissions": [
        {"id": "names.read", "description": "Read the names of people."},
        {"id": "mail.send", "description": "Send mail."},
    ],
}


def an_agent(aop: Aop, greeter: Greeter, workspace: str, *accept: str) -> str:
    """Its first version is installed, and a second one that asks for one permission more is published."""
    older, agent = greeter.card()
    newer, _ = greeter.card(agentId=agent, version="2.0.0", **_NEWER)
    assert aop("publish", older).code == 0
    assert aop("install", agent, "-w", workspace, "--yes", *accept).code == 0
    assert aop("publish", newer, "--force").code == 0
    return agent


def current(aop: Aop, workspace: str, agent: str) -> tuple[str, list[str]]:
    items = aop("installations", "-w", workspace, "--json").json["items"]
    (one,) = [item for item in items if item["agentId"] == agent]
    return one["installedVersion"], one["acceptedPermissions"]


def test_an_upgrade_shows_the_difference_and_replaces_in_one_step(aop: Aop, greeter: Greeter, workspace: str) -> None:
    agent = an_agent(aop, greeter, workspace)
    asked = aop("upgrade", agent, "-w", workspace)
    assert (asked.code, "--yes" in asked.err) == (1, True)
    for text in (f"{agent} 1.0.0 → 2.0.0", "+ permissions.mail.send  Send mail.", "mail.send", "stay valid"):
        assert text in asked.err
    assert current(aop, workspace, agent) == ("1.0.0", ["names.read"])
    made = aop("upgrade", agent, "-w", workspace, "--yes", "--json").json
    assert (made["installedVersion"], made["acceptedPermissions"]) == ("2.0.0", ["mail.send", "names.read"])
    old, new = aop("installations", "-w", workspace, "--all", "--json").json["items"]
    assert (old["replacedBy"], new["installationId"]) == (made["installationId"], made["installationId"])
    again = aop("upgrade", agent, "-w", workspace)
    assert (again.code, "is the newest installable version; nothing was changed" in again.out) == (0, True)
    back = aop("upgrade", agent, "-w", workspace, "--to", "~1.0", "--yes", "--json").json
    assert (back["installedVersion"], back["versionConstraint"]) == ("1.0.0", "~1.0")
    fewer = aop("upgrade", agent, "-w", workspace, "--to", "2.0.0", "--accept", "mail.send", "--yes")
    assert "Skills that will be refused" in fewer.err
    assert current(aop, workspace, agent) == ("2.0.0", ["mail.send"])


def test_an_upgrade_goes_on_and_a_comparison_fails_when_the_platform_cannot_compare(
    aop: Aop, alone: Aop, greeter: Greeter, workspace: str
) -> None:
    agent, stack = an_agent(aop, greeter, workspace), greeter.stack
    with unable_to("/compatibility?", stack.run["gateway"]) as gateway:
        user = {"AOP_GATEWAY": gateway, "AOP_TOKEN": stack.token}
        asked = alone("upgrade", agent, "-w", workspace, **user)
        assert "whether old inputs stay valid is not known: " in asked.err
        assert ("+ permissions.mail.send" in asked.err, "COMPATIBILITY" in asked.err) == (True, False)
        shown = alone("agent", "show", agent, "--diff", "1.0.0", "2.0.0", "--json", **user)
        assert (shown.code, shown.out, shown.error["code"]) == (1, "", "OVERLOADED")
        assert alone("upgrade", agent, "-w", workspace, "--yes", **user).code == 0
    assert current(aop, workspace, agent)[0] == "2.0.0"


def test_a_permission_that_was_declined_stays_declined(aop: Aop, greeter: Greeter, workspace: str) -> None:
    older, agent = greeter.card(**_NEWER)
    newer, _ = greeter.card(agentId=agent, version="1.1.0", **_NEWER)
    assert aop("publish", older, "--force").code == 0
    assert aop("install", agent, "-w", workspace, "--yes", "--accept", "names.read").code == 0
    assert aop("publish", newer, "--force").code == 0
    assert aop("upgrade", agent, "-w", workspace, "--yes").code == 0
    assert current(aop, workspace, agent) == ("1.1.0", ["names.read"])


def test_what_cannot_be_upgraded_is_told(aop: Aop, greeter: Greeter, workspace: str) -> None:
    agent = an_agent(aop, greeter, workspace)
    assert aop("disable", agent, "-w", workspace).code == 0
    disabled = aop("upgrade", agent, "-w", workspace, "--yes", "--json")
    assert (disabled.code, disabled.error["code"], "aop enable" in disabled.error["recovery"]) == (1, "CONFLICT", True)
    assert aop("upgrade", "-w", workspace, "--json").json == {"items": []}
    assert aop("enable", agent, "-w", workspace).code == 0
    for arguments, code in (
        (("nobody:nothing",), 1),
        ((agent, "--to", "^9"), 1),
        ((agent, "--to", "not a range"), 2),
        ((agent, "--accept", "unknown"), 2),
        ((agent, "--all"), 2),
        (("--to", "2.0.0"), 2),
        (("--accept", "mail.send"), 2),
    ):
        assert aop("upgrade", *arguments, "-w", workspace, "--yes").code == code, arguments
    assert current(aop, workspace, agent) == ("1.0.0", ["names.read"])


def test_without_an_agent_newer_versions_are_listed_and_upgraded_by_choice_or_together(
    aop: Aop, greeter: Greeter, workspace: str, tmp_path: Path
) -> None:
    agents = sorted(an_agent(aop, greeter, workspace) for _ in range(3))
    assert aop("install", "aop:summarizer", "-w", workspace, "--yes").code == 0
    listed = aop("upgrade", "-w", workspace, "--json").json["items"]
    assert listed == [{"agentId": agent, "installedVersion": "1.0.0", "newestVersion": "2.0.0"} for agent in agents]
    shown = aop("upgrade", "-w", workspace)  # without a terminal nobody answers yes
    assert (shown.code, agents[0] in shown.out, "aop:summarizer" in shown.out) == (0, True, False)
    answers = {f"Upgrade {agent} 1.0.0 → 2.0.0 and accept mail.send too?": "n\n" for agent in agents[:2]}
    answers[f"Upgrade {agents[2]} 1.0.0 → 2.0.0 and accept mail.send too?"] = "y\n"
    data = greeter.stack.platform.data
    chosen = at_terminal("upgrade", "-w", workspace, answers=answers, folder=tmp_path, data=data, COLUMNS="200")
    assert (chosen.code, chosen.screen.count("enabled")) == (0, 1), chosen.screen
    assert current(aop, workspace, agents[2])[0] == "2.0.0"
    assert aop("upgrade", "--all", "-w", workspace).code == 1
    assert current(aop, workspace, agents[0])[0] == "1.0.0"
    made = aop("upgrade", "--all", "--yes", "-w", workspace, "--json").lines
    assert [one["installedVersion"] for one in made] == ["2.0.0", "2.0.0"]
    assert "every enabled Installation is the newest version" in aop("upgrade", "--all", "-w", workspace).out


def test_who_ends_a_release_sees_what_depends_on_it_and_when_the_router_knows(
    aop: Aop, greeter: Greeter, workspace: str
) -> None:
    file, agent = greeter.card()
    release = aop("publish", file, "--json").json["releaseId"]
    assert aop("install", agent, "-w", workspace, "--yes").code == 0
    assert aop("invoke", agent, "greet", '{"name": "Ada"}', "-w", workspace).code == 0
    asked = aop("release", "suspend", release)
    for text in ("Workspaces     1", "1 enabled, 0 disabled", "1 in the last hour, 1 in the last day"):
        assert text in asked.err
    assert (asked.code, aop("release", "show", release, "--json").json["state"]) == (1, "published")
    for act in ("suspend", "revoke"):
        done = aop("release", act, release, "--yes")
        assert (done.code, "the Router knew the new state " in done.err) == (0, True)
