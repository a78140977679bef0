"""Failures in the Playground: a broken stream, an Agent out of reach, an Installation disabled meanwhile."""

import pytest
from playwright.sync_api import expect

from tests.console import forged_streams as forged
from tests.console.browser import Tab
from tests.console.playground_states import (
    expect_state,
    playground,
    run,
    summarizer,
)
from tests.console.stack import Json, a_card
from tests.console.workspace_states import update


@pytest.mark.rows("CON-08")
@pytest.mark.parametrize(
    ("events", "state"),
    [
        ([forged.accepted(), forged.chunk(2, "lost"), forged.completed(3)], "Invalid stream"),
        ([forged.accepted(), forged.chunk(1, "x", index=1), forged.completed(2)], "Invalid stream"),
        ([forged.accepted(), forged.chunk(1, "x", traceId="4" * 32), forged.completed(2)], "Invalid stream"),
        ([forged.accepted(), forged.completed(1), forged.completed(2)], "Invalid stream"),
        ([forged.accepted(), forged.chunk(1, "only the beginning")], "Interrupted"),
    ],
    ids=["gap", "chunk gap", "foreign ids", "event after the terminal", "no terminal"],
)
def test_a_stream_that_breaks_its_rules_is_never_a_success(tab: Tab, events: list[Json], state: str) -> None:
    page = tab.open(summarizer(tab))
    forged.answer_with(page, events)
    run(page)
    expect_state(page, state)
    expect(page.get_by_role("alert")).to_contain_text("Next step")
    expect(page.get_by_text("Succeeded")).to_have_count(0)


@pytest.mark.second_ring
@pytest.mark.rows("CON-06")
def test_a_failure_after_acceptance_is_shown_with_its_invocation_and_what_to_do(tab: Tab) -> None:
    page = tab.open(f"{_agent_out_of_reach(tab)}&mode=json")
    run(page)
    expect_state(page, "Failed")
    notice = page.get_by_role("alert")
    expect(notice).to_contain_text("AGENT_UNAVAILABLE")
    expect(notice).to_contain_text("HTTP 503")
    expect(notice).to_contain_text("Next step: For the provider of the Agent")
    expect(notice).to_contain_text("Invocation")
    page.get_by_role("link", name="Invocation", exact=True).click()
    expect(page.get_by_text("AGENT_UNAVAILABLE").first).to_be_visible()


@pytest.mark.second_ring
def test_a_failure_in_the_stream_is_shown_like_any_other(tab: Tab) -> None:
    page = tab.open(_agent_out_of_reach(tab))
    run(page)
    expect_state(page, "Failed")
    expect(page.get_by_role("alert")).to_contain_text("AGENT_UNAVAILABLE")
    expect(page.get_by_role("alert")).to_contain_text("Next step: For the provider of the Agent")


@pytest.mark.second_ring
@pytest.mark.rows("CON-06")
def test_an_installation_disabled_meanwhile_is_refused_with_the_way_on(tab: Tab) -> None:
    workspace_id = tab.stack.workspace()
    installation = tab.stack.install(workspace_id, "aop:summarizer", ["text.read"])
    page = tab.open(playground(workspace_id))
    page.get_by_role("button", name="Run", exact=True).wait_for()
    update(tab.stack, installation, "disabled")
    run(page)
    expect_state(page, "Not accepted")
    expect(page.get_by_role("alert")).to_contain_text("INSTALLATION_DISABLED")
    page.get_by_role("alert").get_by_role("link", name="Open the Workspace").click()
    page.get_by_role("button", name="Details of Summarizer").click()
    expect(page.get_by_role("button", name="Enable")).to_be_visible()


def _agent_out_of_reach(tab: Tab) -> str:
    """An Agent whose endpoint answers nothing but proofs, with an example to run."""
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "examples": [{"text": "x"}]}
    skill = {**a_card(tab.stack)["skills"][0], "inputSchema": schema}
    release = tab.stack.publish(skills=[skill])
    workspace_id = tab.stack.workspace()
    tab.stack.install(workspace_id, release["agentId"], ["text.read"])
    return playground(workspace_id, agent=release["agentId"])
