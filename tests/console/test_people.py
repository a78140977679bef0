"""A Workspace used by several accounts: people added and removed, and what a caller sees of the owner's pages."""

import pytest
from playwright.sync_api import expect

from tests.console.browser import Tab
from tests.console.people import another_account
from tests.console.stack import Stack
from tests.console.workspace_states import a_busy_workspace

pytestmark = pytest.mark.second_ring


def current(stack: Stack, workspace_id: str) -> list[str]:
    items = stack.caller.get(f"/v1/workspaces/{workspace_id}/callers").json["items"]
    return [each["principalId"] for each in items if "removedAt" not in each]


@pytest.mark.rows("CALL-01")
def test_the_owner_adds_and_removes_people_with_the_keyboard(tab: Tab, stack: Stack) -> None:
    workspace_id = stack.workspace("people")
    page = tab.open(f"/workspaces/{workspace_id}/people")
    expect(page.get_by_role("region", name="Owner")).to_contain_text("ownership cannot be moved")
    expect(page.get_by_text("The id is not looked up")).to_be_visible()
    field = page.get_by_label("Account id")
    for refused, text in (("not an id", "An account id has"), (stack.principal, "The owner may call already.")):
        field.fill(refused)
        field.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text(text)
    field.fill("id:carol")
    field.press("Enter")
    expect(page.get_by_role("list", name="Callers")).to_contain_text("id:carol")
    assert current(stack, workspace_id) == ["id:carol"]

    page.get_by_role("button", name="Remove id:carol").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Remove id:carol?")
    expect(dialog).to_contain_text("Calls that are running continue")
    dialog.get_by_role("button", name="Remove").press("Enter")
    expect(page.get_by_role("region", name="Former callers")).to_contain_text("id:carol")
    assert current(stack, workspace_id) == []


@pytest.mark.rows("CALL-01")
def test_a_caller_calls_and_reads_and_is_told_what_only_the_owner_does(tab: Tab, stack: Stack) -> None:
    carol = another_account(stack, "carol")
    workspace_id = a_busy_workspace(stack)
    stack.caller.put(f"/v1/workspaces/{workspace_id}/callers/carol")
    tab.sign_in(carol.token)
    page = tab.open(f"/workspaces/{workspace_id}")
    expect(page.get_by_role("button", name="carol")).to_be_visible()
    expect(page.get_by_role("note")).to_contain_text(f"Ask its owner, {stack.principal}.")
    mailer = page.get_by_role("article", name="Mailer")
    expect(mailer).to_contain_text("1.1.0 is available")
    mailer.get_by_role("button", name="Details of Mailer").click()
    for name in ("Install an Agent", "Disable", "Enable", "Uninstall", "Upgrade", "Change"):
        expect(page.get_by_role("button", name=name).or_(page.get_by_role("link", name=name))).to_have_count(0)
    page.get_by_role("article", name="Summarizer").get_by_role("link", name="Try it").click()
    page.get_by_role("textbox", name="text").fill("Ships wait. Ships leave.")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("Succeeded").first).to_be_visible()

    page.get_by_role("link", name="People").click()
    expect(page.get_by_role("note")).to_contain_text("You see your own entry.")
    expect(page.get_by_role("list", name="Callers")).to_contain_text("carol")
    expect(page.get_by_label("Account id")).to_have_count(0)
    expect(page.get_by_role("button", name="Remove carol")).to_have_count(0)
    page.goto(f"{stack.console}/agents/aop:summarizer")
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"Installed in {workspace_id}: 1.0.0")
    expect(page.get_by_role("button", name=f"Workspace: {workspace_id}, caller")).to_be_visible()
    page.get_by_role("button", name="Install elsewhere…").click()
    expect(page.get_by_role("dialog").get_by_label("Workspace", exact=True)).to_have_value("")
    expect(page.get_by_role("dialog")).to_contain_text("Only Workspaces that you own are listed.")
