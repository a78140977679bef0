"""Workspaces: made, filled, emptied and moved on, each step with its consequence said before."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.console.browser import Tab
from tests.console.workspace_states import (
    a_busy_workspace,
    an_agent_with_a_newer_version,
    installations,
    uninstall,
    update,
)

pytestmark = pytest.mark.second_ring


def test_a_new_workspace_is_made_and_opened_by_keyboard_alone(tab: Tab) -> None:
    page = tab.open("/workspaces")
    name = f"made-{tab.stack.workspace()}"
    page.get_by_label("Workspace id").focus()
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    expect(page).to_have_url(f"{tab.stack.console}/workspaces/{name}")
    expect(page.get_by_text("Nothing is installed here.")).to_be_visible()


@pytest.mark.rows("CON-06")
def test_a_workspace_id_that_is_taken_is_refused_with_code_status_trace_and_next_step(tab: Tab) -> None:
    taken = tab.stack.workspace()
    page = tab.open("/workspaces")
    page.get_by_label("Workspace id").fill(taken)
    page.get_by_role("button", name="Create").click()
    notice = page.get_by_role("alert")
    expect(notice).to_contain_text("is taken")
    expect(notice).to_contain_text("CONFLICT")
    expect(notice).to_contain_text("HTTP 409")
    expect(notice).to_contain_text("Trace")
    expect(notice).to_contain_text("Next step")


def test_what_is_no_id_is_said_before_it_is_sent(tab: Tab) -> None:
    page = tab.open("/workspaces")
    page.get_by_label("Workspace id").fill("not an id")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("This is not an id.")).to_be_visible()
    assert not [request for request in tab.requests if request.method == "POST"]


def test_workspaces_are_listed_page_by_page(tab: Tab) -> None:
    made = {tab.stack.workspace("paged") for _ in range(26)}
    page = tab.open("/workspaces")
    shown = page.get_by_role("list", name="Workspaces").get_by_role("link")
    expect(shown).to_have_count(25)
    while page.get_by_role("button", name="Load more").is_visible():
        count = shown.count()
        page.get_by_role("button", name="Load more").click()
        expect(shown.nth(count)).to_be_visible()
    assert made <= set(shown.all_text_contents())


def test_an_installation_is_shown_with_its_pin_permissions_and_state(tab: Tab) -> None:
    workspace_id = tab.stack.workspace()
    installation = tab.stack.install(workspace_id, "aop:summarizer", ["text.read"], "^1.0.0")
    page = tab.open(f"/workspaces/{workspace_id}")
    row = _opened(page, "Summarizer")
    expect(row).to_contain_text("1.0.0")
    expect(row).to_contain_text("chosen for ^1.0.0")
    expect(row).to_contain_text("text.read")
    expect(row.get_by_role("list")).to_have_text("SummarizeRank sentencesRead aloud")
    release = row.get_by_role("link", name=installation["installedReleaseId"][:10])
    expect(release).to_have_attribute("href", f"/releases/{installation['installedReleaseId']}")


def test_what_stands_in_the_way_of_an_installation_is_said_without_a_request_for_each(tab: Tab) -> None:
    workspace_id = a_busy_workspace(tab.stack)
    page = tab.open(f"/workspaces/{workspace_id}")
    expect(page.get_by_role("article", name="Meeting brief")).to_contain_text("2 of 3 Skills not permitted")
    expect(page.get_by_role("article", name="Mailer")).to_contain_text("1.1.0 is available")
    expect(page.get_by_role("article", name="Action items")).to_contain_text("Disabled")
    expect(page.get_by_role("article", name="Action items").get_by_role("link", name="Try it")).to_have_count(0)
    suspended = _opened(page, "Suspended Agent")
    expect(suspended).to_contain_text("Suspended by its provider")
    expect(suspended).to_contain_text("AGENT_RELEASE_SUSPENDED")
    expect(suspended.get_by_role("link", name="Try it")).to_have_count(0)
    asked = [request.url for request in tab.requests if request.url.startswith(f"{tab.stack.gateway}/v1/")]
    assert not [url for url in asked if "/v1/agents/" in url]
    assert len([url for url in asked if "/installations" in url]) == 1


def test_disabling_says_what_will_be_refused_and_enabling_brings_it_back(tab: Tab) -> None:
    workspace_id = tab.stack.workspace()
    tab.stack.install(workspace_id, "aop:summarizer", ["text.read"])
    page = tab.open(f"/workspaces/{workspace_id}?agent=aop:summarizer")
    row = page.get_by_role("article", name="Summarizer")
    row.get_by_role("button", name="Disable").click()
    expect(page.get_by_role("dialog")).to_contain_text("INSTALLATION_DISABLED")
    assert installations(tab.stack, workspace_id)[0]["status"] == "enabled"
    page.get_by_role("dialog").get_by_role("button", name="Disable").click()
    expect(row).to_contain_text("Disabled")
    assert installations(tab.stack, workspace_id)[0]["status"] == "disabled"
    row.get_by_role("button", name="Enable").click()
    expect(page.get_by_role("dialog")).to_contain_text("are accepted again")
    page.get_by_role("dialog").get_by_role("button", name="Enable").click()
    expect(row).not_to_contain_text("Disabled")
    assert installations(tab.stack, workspace_id)[0]["status"] == "enabled"


def test_uninstalling_keeps_the_record_in_the_history(tab: Tab) -> None:
    workspace_id = tab.stack.workspace()
    tab.stack.install(workspace_id, "aop:summarizer", ["text.read"])
    page = tab.open(f"/workspaces/{workspace_id}")
    _opened(page, "Summarizer").get_by_role("button", name="Uninstall Summarizer").click()
    expect(page.get_by_role("dialog")).to_contain_text("AGENT_NOT_INSTALLED")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Uninstall Summarizer").click()
    page.get_by_role("dialog").get_by_role("button", name="Uninstall").click()
    expect(page.get_by_text("Nothing is installed here.")).to_be_visible()
    page.get_by_role("tab", name="History (1)").click()
    expect(page).to_have_url(f"{tab.stack.console}/workspaces/{workspace_id}?view=history")
    expect(page.get_by_role("row").nth(1)).to_contain_text("Summarizeraop:summarizer 1.0.0")


def test_an_action_the_state_no_longer_permits_is_refused_in_the_dialog(tab: Tab) -> None:
    workspace_id = tab.stack.workspace()
    installation = tab.stack.install(workspace_id, "aop:summarizer", ["text.read"])
    page = tab.open(f"/workspaces/{workspace_id}")
    _opened(page, "Summarizer").get_by_role("button", name="Disable").click()
    update(tab.stack, installation, "disabled")
    page.get_by_role("dialog").get_by_role("button", name="Disable").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("CONFLICT")


def test_a_history_longer_than_a_page_is_shown_whole(tab: Tab) -> None:
    workspace_id = tab.stack.workspace()
    for _ in range(101):
        uninstall(tab.stack, tab.stack.install(workspace_id, "aop:summarizer", []))
    tab.stack.install(workspace_id, "aop:summarizer", ["text.read"])
    page = tab.open(f"/workspaces/{workspace_id}")
    expect(page.get_by_role("tab", name="Installed (1)")).to_be_visible()
    expect(page.get_by_role("tab", name="History (101)")).to_be_visible()


def test_an_upgrade_shows_what_changes_and_replaces_in_one_step(tab: Tab) -> None:
    workspace_id = _with_an_older_version(tab)
    page = tab.open(f"/workspaces/{workspace_id}")
    dialog = _preview(page)
    expect(dialog.get_by_role("region", name="Permissions", exact=True)).to_contain_text("mail.send")
    expect(dialog.get_by_role("region", name="Skill summarize: input")).to_contain_text("receiver")
    expect(dialog).to_contain_text("no call is refused in between")
    expect(dialog.get_by_role("checkbox", name="text.read")).to_be_checked()
    expect(dialog.get_by_role("checkbox", name="mail.send")).not_to_be_checked()
    assert [each["installedVersion"] for each in installations(tab.stack, workspace_id)] == ["1.0.0"]
    dialog.get_by_role("checkbox", name="mail.send").check()
    dialog.get_by_role("button", name="Change to 1.1.0").click()
    expect(dialog).to_have_count(0)
    row = page.get_by_role("article", name="Mailer")
    expect(row).to_contain_text("1.1.0")
    old, new = installations(tab.stack, workspace_id)
    assert (old["installedVersion"], old["status"]) == ("1.0.0", "uninstalled")
    assert old["replacedBy"] == new["installationId"]
    assert (new["installedVersion"], new["status"]) == ("1.1.0", "enabled")
    assert new["acceptedPermissions"] == ["mail.send", "text.read"]

    _opened(page, "Mailer").get_by_role("button", name="Change version or permissions").click()
    dialog.get_by_role("checkbox", name="mail.send").uncheck()
    dialog.get_by_role("button", name="Change the permissions").click()
    expect(row).to_contain_text("No Skill permitted")
    assert installations(tab.stack, workspace_id)[-1]["acceptedPermissions"] == ["text.read"]


@pytest.mark.rows("REPL-02")
def test_an_upgrade_that_comes_too_late_is_refused_and_changes_nothing(tab: Tab) -> None:
    workspace_id = _with_an_older_version(tab)
    page = tab.open(f"/workspaces/{workspace_id}")
    dialog = _preview(page)
    (installation,) = installations(tab.stack, workspace_id)
    update(tab.stack, installation, "disabled")
    dialog.get_by_role("button", name="Change to 1.1.0").click()
    expect(dialog.get_by_role("alert")).to_contain_text("1.1.0 was not installed")
    expect(dialog.get_by_role("alert")).to_contain_text("state_changed")
    assert [each["status"] for each in installations(tab.stack, workspace_id)] == ["disabled"]
    page.keyboard.press("Escape")
    expect(_opened(page, "Mailer")).to_contain_text("Enable the Installation to change its version or permissions.")


def _with_an_older_version(tab: Tab) -> str:
    workspace_id = tab.stack.workspace()
    tab.stack.install(workspace_id, an_agent_with_a_newer_version(tab.stack), ["text.read"], "1.0.0")
    return workspace_id


def _preview(page: Page) -> Locator:
    page.get_by_role("button", name="Upgrade to 1.1.0").click()
    return page.get_by_role("dialog")


def _opened(page: Page, name: str) -> Locator:
    """The line of an Installation with its details."""
    row = page.get_by_role("article", name=name)
    row.get_by_role("button", name=f"Details of {name}").click()
    return row
