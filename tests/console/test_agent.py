"""The Agent page: what a version offers, how it differs from another, how it is installed and called."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.console.browser import Tab
from tests.console.screens import two_versions
from tests.console.workspace_states import an_agent_with_a_newer_version
from tests.support.waiting import PATIENCE_SECONDS


@pytest.mark.second_ring
def test_the_page_names_the_release_and_the_digest_and_the_command_verifies_it(tab: Tab) -> None:
    page = tab.open("/agents/aop:summarizer")
    entry = tab.stack.caller.get("/v1/agents/aop:summarizer").json["versions"][0]
    page.get_by_role("button", name="Copy Card digest").click()
    assert page.evaluate("navigator.clipboard.readText()") == entry["cardDigest"]
    command = page.get_by_role("region", name="command that verifies the digest").inner_text()
    assert _shell(command, tab).split()[0] == entry["cardDigest"]
    card = tab.stack.caller.get("/v1/agents/aop:summarizer/versions/1.0.0").body
    assert hashlib.sha256(card).hexdigest() == entry["cardDigest"]
    expect(page.get_by_role("link", name=entry["release"]["releaseId"][:8])).to_be_visible()


@pytest.mark.long
def test_the_snippets_work_as_pasted(tab: Tab) -> None:
    page = tab.open("/agents/aop:summarizer?tab=use")
    curl = page.get_by_role("region", name="curl snippet").inner_text()
    answers = _shell(curl, tab)
    assert '"status":"succeeded"' in answers
    assert '"type":"completed"' in answers
    page.get_by_role("tab", name="Python").click()
    python = page.get_by_role("region", name="Python snippet").inner_text()
    ran = subprocess.run(
        [sys.executable, "-c", python],
        env=_environment(tab),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    assert "harbour" in ran.stdout
    page.get_by_role("tab", name="Command line").click()
    commands = page.get_by_role("region", name="Command line snippet").inner_text().splitlines()
    invoke = "\n".join(line for line in commands if not line.startswith("aop install"))
    assert "harbour" in _shell(invoke, tab)


@pytest.mark.second_ring
def test_the_difference_between_two_versions_is_readable_and_in_the_address(tab: Tab) -> None:
    page = tab.open(two_versions(tab.stack))
    permissions = page.get_by_role("region", name="Permissions")
    expect(permissions).to_contain_text("mail.send")
    expect(permissions).to_contain_text("Sends the summary by mail.")
    expect(page.get_by_role("region", name="Skill summarize: input")).to_contain_text("language")
    expect(page.get_by_role("region", name="Limits")).to_contain_text("30 s → 10 s")
    compatibility = page.get_by_role("region", name="Compatibility")
    expect(compatibility).to_contain_text('These inputs stop being valid: {"text":"')
    expect(compatibility).to_contain_text("Old readers refuse these outputs:")
    assert len([one for one in tab.requests if "/compatibility?" in one.url]) == 1
    page.get_by_role("button", name="Swap").click()
    expect(page.get_by_role("region", name="Limits")).to_contain_text("10 s → 30 s")
    address = page.url
    page.reload()
    expect(page).to_have_url(address)
    expect(page.get_by_role("region", name="Limits")).to_contain_text("10 s → 30 s")


@pytest.mark.second_ring
def test_a_comparison_that_the_platform_cannot_make_now_is_said_and_can_be_asked_for_again(tab: Tab) -> None:
    asked: list[Route] = []
    tab.page.route("**/compatibility?*", lambda route: asked.append(route), times=1)  # noqa: PLW0108  a plain function
    page = tab.open(two_versions(tab.stack))
    compatibility = page.get_by_role("region", name="Compatibility")
    expect(compatibility.get_by_role("status", name="Loading Compatibility")).to_be_visible()
    expect(page.get_by_role("region", name="Limits")).to_contain_text("30 s → 10 s")
    refusal = {"code": "OVERLOADED", "message": "", "traceId": "5" * 32}
    asked[0].fulfill(status=503, json=refusal, headers={"access-control-allow-origin": tab.stack.console})
    expect(compatibility.get_by_role("alert")).to_contain_text("Compatibility could not be loaded")
    expect(compatibility).not_to_contain_text("stay valid")
    compatibility.get_by_role("button", name="Try again").click()
    expect(compatibility).to_contain_text("These inputs stop being valid:")


@pytest.mark.second_ring
def test_installing_asks_for_every_permission_and_leads_to_where_the_agent_can_be_tried(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("install")
    page = tab.open("/agents/aop:summarizer?open=install")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Workspace", exact=True).select_option(workspace_id)
    expect(dialog.get_by_role("checkbox", name="text.read")).not_to_be_checked()
    expect(dialog).to_contain_text("Every Skill needs it.")
    expect(dialog).to_contain_text("You cannot use any Skill with this choice")
    expect(dialog.get_by_role("button", name="Install anyway")).to_be_visible()
    dialog.get_by_role("button", name="Accept all").click()
    expect(dialog).to_contain_text("You can use every Skill with this choice.")
    dialog.get_by_role("button", name="Accept none").click()
    dialog.get_by_role("checkbox", name="Rank sentences").check()
    expect(dialog.get_by_role("checkbox", name="text.read")).to_be_checked()
    dialog.get_by_role("button", name="Install", exact=True).click()
    expect(page).to_have_url(f"{tab.stack.console}/workspaces/{workspace_id}/playground?agent=aop%3Asummarizer")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_visible()
    (installation,) = tab.stack.caller.get(f"/v1/workspaces/{workspace_id}/installations").json["items"]
    assert (installation["installedVersion"], installation["versionConstraint"]) == ("1.0.0", "1.0.0")
    assert installation["acceptedPermissions"] == ["text.read"]


@pytest.mark.rows("CON-11")
def test_a_list_read_before_the_installation_does_not_hide_it_when_it_comes_late(tab: Tab) -> None:
    workspace_id, lists, scripts = tab.stack.agent_id("late").replace("test:", ""), list[Route](), list[Route]()
    page = tab.open("/agents/aop:summarizer?open=install")
    page.route(f"**/workspaces/{workspace_id}/installations?*", lambda route: lists.append(route), times=1)  # noqa: PLW0108  a plain function
    page.route("**/assets/PlaygroundPage-*.js", lambda route: scripts.append(route))  # noqa: PLW0108
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Workspace", exact=True).select_option(label="New Workspace…")
    dialog.get_by_label("Id of the new Workspace").fill(workspace_id)
    dialog.get_by_role("button", name="Accept all").click()
    dialog.get_by_role("button", name="Install", exact=True).click()
    tab.wait_until(lambda: lists and scripts)
    lists[0].fulfill(json={"items": []}, headers={"access-control-allow-origin": tab.stack.console})
    scripts[0].continue_()  # until now the page that reads the list was open
    expect(page).to_have_url(f"{tab.stack.console}/workspaces/{workspace_id}/playground?agent=aop%3Asummarizer")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_visible()


@pytest.mark.second_ring
def test_what_makes_no_skill_usable_leads_to_the_workspace_where_more_can_be_accepted(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("unusable")
    page = tab.open("/agents/aop:summarizer?open=install")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Workspace", exact=True).select_option(workspace_id)
    dialog.get_by_role("button", name="Install anyway").click()
    expect(page).to_have_url(f"{tab.stack.console}/workspaces/{workspace_id}?agent=aop%3Asummarizer")
    row = page.get_by_role("article", name="Summarizer")
    expect(row).to_contain_text("No Skill permitted")
    expect(row.get_by_role("button", name="Change version or permissions")).to_be_visible()


@pytest.mark.second_ring
def test_the_page_knows_what_the_open_workspace_has_installed(tab: Tab) -> None:
    agent_id = an_agent_with_a_newer_version(tab.stack)
    workspace_id = tab.stack.workspace("knows")
    page = tab.open(f"/workspaces/{workspace_id}")
    page.get_by_text("Nothing is installed here.").wait_for()
    tab.open(f"/agents/{agent_id}")
    expect(page.get_by_role("button", name="Install", exact=True)).to_be_enabled()
    tab.stack.install(workspace_id, agent_id, ["text.read"], "1.0.0")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"Installed in {workspace_id}: 1.0.0")
    expect(page.get_by_role("button", name="Install", exact=True)).to_have_count(0)
    expect(page.get_by_role("link", name="Try it")).to_be_visible()
    page.get_by_role("button", name="Upgrade to 1.1.0").click()
    expect(page.get_by_role("dialog").get_by_role("checkbox", name="mail.send")).not_to_be_checked()
    page.get_by_role("dialog").get_by_role("button", name="Change to 1.1.0").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"Installed in {workspace_id}: 1.1.0")


@pytest.mark.rows("CON-06")
def test_a_second_installation_is_shown_as_such_and_a_late_one_is_refused_with_code_and_trace(tab: Tab) -> None:
    page = tab.open("/agents/aop:summarizer?open=install")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Workspace", exact=True).select_option("demo")
    note = dialog.get_by_role("note")
    expect(note).to_contain_text("Already installed in demo: version 1.0.0")
    expect(note.get_by_role("link", name="Try it")).to_be_visible()
    expect(dialog.get_by_role("button", name="Install")).to_have_count(0)
    workspace_id = tab.stack.workspace("late")
    page.reload()
    dialog.get_by_label("Workspace", exact=True).select_option(workspace_id)
    dialog.get_by_role("button", name="Accept all").click()
    expect(dialog.get_by_role("button", name="Install", exact=True)).to_be_enabled()
    tab.stack.install(workspace_id, "aop:summarizer", [])
    dialog.get_by_role("button", name="Install", exact=True).click()
    notice = dialog.get_by_role("alert")
    expect(notice).to_contain_text("This Agent is already installed in the Workspace.")
    notice.get_by_text("Details", exact=True).click()
    expect(notice).to_contain_text("CONFLICT")
    expect(notice.get_by_role("button", name="Copy trace id")).to_be_visible()
    expect(note).to_contain_text(f"Already installed in {workspace_id}")


@pytest.mark.second_ring
def test_a_version_without_a_published_release_cannot_be_installed(tab: Tab) -> None:
    entry = tab.stack.register(agentId=tab.stack.agent_id("draft"))
    page = tab.open(f"/agents/{entry['agentId']}")
    expect(page.get_by_role("button", name="Install", exact=True)).to_be_disabled()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Draft")
    expect(page.get_by_role("note")).to_have_text("Version 1.0.0 cannot be installed. It has no Release yet.")


def _environment(tab: Tab) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("AOP_", "PLATFORM_"))}  # noqa: TID251
    programs = f"{Path(sys.executable).parent}{os.pathsep}{inherited['PATH']}"
    return inherited | {"AOP_TOKEN": tab.stack.token, "PATH": programs, "HOME": str(tab.stack.platform.data)}


def _shell(command: str, tab: Tab) -> str:
    aop = f'aop() {{ {json.dumps(sys.executable)} -P -m aop "$@"; }}\n'
    ran = subprocess.run(
        ["/bin/sh", "-c", aop + command],
        env=_environment(tab),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
