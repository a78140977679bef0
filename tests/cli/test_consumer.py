"""Finding, reading, sharing and installing Agents from the command line."""

import pytest

from tests.cli.conftest import Aop, Greeter, Stack

pytestmark = pytest.mark.second_ring


def test_search_finds_by_words_capability_and_owner(aop: Aop) -> None:
    found = aop("search", "MEETING", "--json").json["items"]
    assert {item["agentId"] for item in found} == {"aop:meeting-brief", "aop:action-items"}
    assert aop("search", "brief meetng", "--json").json["items"][0]["agentId"] == "aop:meeting-brief"
    assert {item["agentId"] for item in aop("search", "MEETING", "--newest", "--json").json["items"]} == {
        item["agentId"] for item in found
    }
    assert "aop:summarizer" in aop("search", "--capability", "read-aloud").out
    assert aop("search", "--owner", "nobody", "--json").json == {"items": []}
    assert aop("search", "--owner", "nobody").out == "nothing found\n"


def test_search_shows_the_latest_installable_unless_told_otherwise(aop: Aop, greeter: Greeter) -> None:
    older, agent = greeter.card()
    newer, _ = greeter.card(agentId=agent, version="1.1.0")
    for file in (older, newer):
        assert aop("publish", file).code == 0

    def versions(*options: str) -> list[str]:
        items = aop("search", "--capability", "greet", "--json", *options).json["items"]
        return sorted(item["version"] for item in items if item["agentId"] == agent)

    assert versions() == ["1.1.0"]
    assert versions("--all-versions") == ["1.0.0", "1.1.0"]
    assert versions("--any") == ["1.1.0"]


def test_own_agents_are_listed_with_their_states(aop: Aop) -> None:
    listed = {item["agentId"]: item for item in aop("agent", "list", "--json").json["items"]}
    assert listed["aop:summarizer"]["newestRelease"]["state"] == "published"
    row = next(line for line in aop("agent", "list").out.splitlines() if line.startswith("aop:summarizer "))
    assert (row.split()[1:2], row.split().count("published")) == (["Summarizer"], 2)


def test_more_than_the_limit_is_told(aop: Aop) -> None:
    done = aop("search", "--limit", "1")
    assert (len(done.out.splitlines()), "there are more" in done.err) == (2, True)


def test_a_search_the_gateway_refuses_names_the_parameter(aop: Aop) -> None:
    refused = aop("search", "--capability", "not an id")
    assert (refused.code, "/capability" in refused.err) == (1, True)


def test_an_agent_is_shown_with_versions_skills_and_permissions(aop: Aop) -> None:
    shown = aop("agent", "show", "aop:summarizer").out
    for text in ("aop:summarizer 1.0.0", "rank-sentences", "text.read", "Read the texts given to the Agent.", "60 s"):
        assert text in shown
    document = aop("agent", "show", "aop:summarizer", "--json").json
    assert document["publicUrl"].endswith(document["publicAgentId"])
    assert [entry["version"] for entry in document["versions"]] == ["1.0.0"]


def test_an_unknown_agent_or_version_is_told(aop: Aop) -> None:
    assert aop("agent", "show", "nobody:nothing", "--json").error["code"] == "NOT_FOUND"
    missing = aop("agent", "show", "aop:summarizer", "--version", "9.9.9")
    assert (missing.code, "it has 1.0.0" in missing.err) == (1, True)


_CHANGED = {
    "version": "2.0.0",
    "permissions": [
        {"id": "names.read", "description": "Read the names of people."},
        {"id": "mail.send", "description": "Send mail."},
    ],
    "limits": {"timeoutMs": 30000, "maxInputBytes": 65536, "maxOutputBytes": 1048576, "streaming": True},
    "skills": [
        {
            "id": "greet",
            "name": "Greet",
            "description": "Greets somebody by name. Streams the greeting word by word when asked to.",
            "inputSchema": {"type": "object", "required": ["name", "tone"]},
            "outputSchema": {"description": "The greeting, or, in a stream, its next word.", "type": "string"},
            "requiredPermissions": ["names.read", "mail.send"],
        },
        {
            "id": "part",
            "name": "Part",
            "description": "Says goodbye.",
            "inputSchema": {"type": "object"},
            "outputSchema": {},
            "requiredPermissions": [],
        },
    ],
}


def test_the_difference_between_two_versions_tells_permissions_first(aop: Aop, greeter: Greeter) -> None:
    older, agent = greeter.card()
    newer, _ = greeter.card(agentId=agent, **_CHANGED)
    for file in (older, newer):
        assert aop("publish", file, "--force").code == 0  # the Agent that runs has the older Skills
    compared = aop("agent", "show", agent, "--diff", "1.0.0", "2.0.0", "--json").json
    changes = compared["changes"]
    told = {(change["section"], change["kind"], change["place"]) for change in changes}
    assert told >= {
        ("permissions", "added", "permissions.mail.send"),
        ("permissions", "added", "skills.greet.requiredPermissions"),
        ("skills", "added", "skills.part"),
        ("schemas", "added", "skills.greet.inputSchema.required"),
        ("schemas", "removed", "skills.greet.inputSchema.properties"),
        ("limits", "changed", "limits.timeoutMs"),
    }
    assert not any(change["place"] == "version" for change in changes)
    shown = aop("agent", "show", agent, "--diff", "1.0.0", "2.0.0").out
    assert shown.index("PERMISSIONS") < shown.index("SKILLS") < shown.index("SCHEMAS") < shown.index("LIMITS")
    assert "~ limits.timeoutMs  60000 → 30000" in shown
    assert [skill["skillId"] for skill in compared["compatibility"]] == ["greet"]
    assert compared["compatibility"][0]["inputs"] == {"compatible": "no", "example": {"name": "a"}}
    assert 'greet  these inputs stop being valid: {"name":"a"}' in shown
    assert "greet  new outputs are valid for old readers" in shown
    assert "no difference" in aop("agent", "show", agent, "--diff", "1.0.0", "1.0.0").out
    assert aop("agent", "show", agent, "--diff", "1.0.0", "3.0.0", "--json").error["code"] == "NOT_FOUND"


def test_sharing_shows_the_link_and_only_what_anyone_may_read(aop: Aop, published: str, greeter: Greeter) -> None:
    share = aop("share", published, "--json").json
    assert (share["availability"], share["releases"][0]["agentId"]) == ("installable", published)
    shown = aop("share", share["publicUrl"])
    assert shown.out.startswith(share["publicUrl"])
    assert aop("share", share["publicAgentId"]).out == shown.out
    assert f":{greeter.stack.agent_port}" not in shown.out
    assert aop("share", "nobody:nothing").code == 1


def test_installing_shows_the_permissions_and_installs_nothing_unasked(aop: Aop, workspace: str) -> None:
    asked = aop("install", "aop:summarizer", "-w", workspace)
    assert (asked.code, "text.read" in asked.err, "--yes" in asked.err) == (1, True, True)
    assert aop("installations", "-w", workspace, "--json").json == {"items": []}


def test_an_installation_is_made_disabled_enabled_and_ended_and_its_history_stays(aop: Aop, workspace: str) -> None:
    made = aop("install", "aop:summarizer", "-w", workspace, "--yes", "--json").json
    told = aop("installations", "-w", workspace, "--json").json["items"][0]
    assert (told["agentName"], told["limits"]["streaming"]) == ("Summarizer", True)
    assert {skill["permissionsAccepted"] for skill in told["skills"]} == {True}
    assert (made["status"], made["installedVersion"]) == ("enabled", "1.0.0")
    assert made["acceptedPermissions"] == ["text.read"]
    again = aop("install", "aop:summarizer", "-w", workspace, "--yes")
    assert (again.code, "aop upgrade aop:summarizer" in again.err) == (1, True)
    assert aop("disable", "aop:summarizer", "-w", workspace, "--json").json["status"] == "disabled"
    twice = aop("disable", "aop:summarizer", "-w", workspace)
    assert (twice.code, "it is disabled already" in twice.err) == (1, True)
    assert aop("enable", made["installationId"], "-w", workspace, "--json").json["status"] == "enabled"
    ended = aop("uninstall", "aop:summarizer", "-w", workspace, "--json").json
    assert (ended["status"], ended["installationId"]) == ("uninstalled", made["installationId"])
    assert aop("installations", "-w", workspace, "--json").json == {"items": []}
    assert aop("installations", "-w", workspace, "--all", "--json").json["items"] == [told | ended]
    gone = aop("enable", "aop:summarizer", "-w", workspace, "--json")
    assert (gone.code, gone.error["code"]) == (1, "AGENT_NOT_INSTALLED")


def test_fewer_permissions_can_be_accepted_and_what_is_lost_is_told(aop: Aop, workspace: str) -> None:
    done = aop("install", "aop:meeting-brief", "-w", workspace, "--accept", "notes.read", "--yes")
    assert done.code == 0
    assert "because a permission is not accepted" not in done.err
    unknown = aop("install", "aop:summarizer", "-w", workspace, "--accept", "text.write", "--yes")
    assert (unknown.code, "it asks for text.read" in unknown.err) == (2, True)


def test_a_range_chooses_the_highest_version_in_it(aop: Aop, greeter: Greeter, workspace: str) -> None:
    _, agent = greeter.card()
    for version in ("1.0.0", "1.4.0", "2.0.0"):
        file, _ = greeter.card(agentId=agent, version=version)
        assert aop("publish", file).code == 0
    made = aop("install", agent, "-w", workspace, "--version", "^1.0", "--yes", "--json").json
    assert (made["installedVersion"], made["versionConstraint"]) == ("1.4.0", "^1.0")
    aop("uninstall", agent, "-w", workspace)
    assert aop("install", agent, "-w", workspace, "--yes", "--json").json["installedVersion"] == "2.0.0"
    aop("uninstall", agent, "-w", workspace)
    none = aop("install", agent, "-w", workspace, "--version", "^9", "--yes", "--json")
    assert (none.code, none.error["code"]) == (1, "NOT_FOUND")
    assert aop("install", agent, "-w", workspace, "--version", "one", "--yes").code == 2


def test_the_only_workspace_is_used_and_several_have_to_be_told_apart(aop: Aop, alone: Aop, stack: Stack) -> None:
    aop("workspace", "create", stack.new_id("another"))
    settings = {"AOP_GATEWAY": stack.run["gateway"], "AOP_TOKEN": stack.token}
    several = alone("installations", "--json", **settings)
    assert (several.code, several.error["code"]) == (1, "no_workspace")
    owner = stack.new_id("owner")
    made = aop("token", "create", "--principal", owner, "--data", str(stack.platform.data), "--json").json
    theirs = settings | {"AOP_TOKEN": made["token"]}
    none = alone("installations", "--json", **theirs)
    assert "aop workspace create" in none.error["recovery"]
    only = stack.new_id("only")
    assert alone("workspace", "create", only, **theirs).code == 0
    assert alone("installations", **theirs).out == f"nothing is installed in {only}\n"
