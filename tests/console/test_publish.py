"""Publishing in the browser: one page, resumable at every step, every failure with its next action."""

import json
import re
import subprocess
import sys

import pytest
from playwright.sync_api import Page, expect

from tests.console.browser import Tab
from tests.console.screens import bound, registered
from tests.console.stack import a_card
from tests.support.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.second_ring


def _challenge(page: Page) -> tuple[str, str]:
    """Challenge id and proof of the challenge that is shown."""
    page.get_by_role("button", name=re.compile("^Create a (fresh )?challenge$")).click()
    page.get_by_role("button", name="Check now").wait_for()
    text = page.get_by_role("listitem").filter(has=page.get_by_role("button", name="Check now")).inner_text()
    found = re.search(r"challenges/(chal_[0-9a-f]{32})\s", text), re.search(r"\b([0-9a-f]{64})\b", text)
    assert found[0]
    assert found[1]
    return found[0][1], found[1][1]


@pytest.mark.rows("CON-05", "CON-02")
def test_a_card_becomes_a_published_release_and_the_proof_is_gone_from_the_page(tab: Tab) -> None:
    card = a_card(tab.stack, agentId=tab.stack.agent_id("browser"), name="From the browser")
    page = tab.open("/publish")
    page.get_by_label("Card as JSON").fill(json.dumps(card))
    expect(page.get_by_label("Name", exact=True)).to_have_value("From the browser")
    page.get_by_role("button", name="Register the Card").click()
    page.get_by_label("Provider id").fill("aop")
    page.get_by_role("button", name="Bind the endpoint").click()
    challenge_id, proof = _challenge(page)
    tab.stack.proof_server.proofs[challenge_id] = proof
    page.get_by_role("button", name="Check now").click()
    page.get_by_role("button", name="Create the Release").click()
    assert proof not in page.content()
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_role("link", name="Open the Agent page")).to_be_visible()
    entry = tab.stack.caller.get(f"/v1/agents/{card['agentId']}").json["versions"][0]
    assert entry["installable"] is True
    assert proof not in page.content() + page.url
    kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert proof not in kept
    assert not [request.url for request in tab.requests if proof in request.url]


def test_the_form_and_the_json_are_two_views_of_one_card(tab: Tab) -> None:
    page = tab.open("/publish")
    page.get_by_label("Agent id").fill("acme:form")
    page.get_by_role("button", name="Add Permission").click()
    page.get_by_label("Permission id").fill("mail.send")
    page.get_by_label("mail.send", exact=True).check()
    card = json.loads(page.get_by_label("Card as JSON").input_value())
    assert card["agentId"] == "acme:form"
    assert card["permissions"] == [{"id": "mail.send", "description": ""}]
    assert card["skills"][0]["requiredPermissions"] == ["mail.send"]
    assert card["owner"]["id"] == tab.stack.principal
    page.get_by_label("Card as JSON").fill("{")
    expect(page.get_by_label("Agent id")).to_be_disabled()
    page.get_by_label("Card as JSON").fill(json.dumps({**card, "name": "Typed"}))
    expect(page.get_by_label("Name", exact=True)).to_have_value("Typed")


def test_what_a_card_misses_is_said_next_to_its_fields_and_nothing_is_sent(tab: Tab) -> None:
    page = tab.open("/publish")
    page.get_by_label("Version", exact=True).fill("1.0")
    page.get_by_role("button", name="Register the Card").click()
    expect(page.get_by_role("status").filter(has_text="Nothing was sent: correct")).to_be_visible()
    for label, said in (
        ("Agent id", "Must not be empty."),
        ("Name", "Must not be empty."),
        ("Version", "Use three numbers, like 1.0.0."),
        ("Skill id", "Must not be empty."),
    ):
        expect(page.get_by_label(label, exact=True)).to_have_accessible_description(re.compile(re.escape(said)))
    expect(page.get_by_label("Agent id")).to_be_focused()
    page.get_by_label("Name", exact=True).fill("Named")
    expect(page.get_by_label("Name", exact=True)).not_to_have_attribute("aria-invalid", "true")
    assert not [request for request in tab.requests if request.method == "POST"]


@pytest.mark.rows("CON-06")
def test_a_refused_card_shows_pointer_and_rule_next_to_the_field(tab: Tab) -> None:
    card = a_card(tab.stack)
    card["skills"][0]["inputSchema"] = {"type": "string", "pattern": "(?=x)x"}
    page = tab.open("/publish")
    page.get_by_label("Card as JSON").fill(json.dumps(card))
    page.get_by_role("button", name="Register the Card").click()
    schema = page.get_by_label("Input schema")
    expect(schema).to_have_attribute("aria-invalid", "true")
    expect(schema).to_have_accessible_description(
        re.compile(r"The Skill schema cannot be used. \(/skills/0/inputSchema\S* CARD-6\)")
    )
    notice = page.get_by_role("alert").filter(has_text="The Card was not registered")
    expect(notice).to_contain_text("The Card is not complete or not correct.")
    expect(notice).to_contain_text("Next step: Correct the marked fields")
    notice.get_by_text("Details", exact=True).click()
    expect(notice).to_contain_text("VALIDATION_ERROR")


def test_a_reload_in_the_middle_goes_on_where_it_was(tab: Tab) -> None:
    page = tab.open(bound(tab.stack))
    _challenge(page)
    page.reload()
    expect(page.get_by_role("button", name="Create a challenge")).to_be_visible()
    challenge_id, proof = _challenge(page)
    tab.stack.proof_server.proofs[challenge_id] = proof
    page.get_by_role("button", name="Check now").click()
    expect(page.get_by_role("button", name="Create the Release")).to_be_visible()
    page.reload()
    page.get_by_role("button", name="Create the Release").click()
    expect(page.get_by_role("button", name="Publish", exact=True)).to_be_visible()
    page.reload()
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_role("link", name="Manage the Release")).to_be_visible()


@pytest.mark.rows("CON-06")
def test_a_wrong_proof_is_shown_with_its_recovery_and_a_fresh_challenge_repairs_it(tab: Tab) -> None:
    page = tab.open(bound(tab.stack))
    challenge_id, proof = _challenge(page)
    tab.stack.proof_server.proofs[challenge_id] = f"{proof}\n"
    page.get_by_role("button", name="Check now").click()
    notice = page.get_by_role("alert").filter(has_text="The endpoint was not proven")
    expect(notice).to_contain_text("WRONG_PROOF")
    expect(notice).to_contain_text("Next step: Create a fresh challenge, because each is checked once.")
    assert proof not in page.content()
    page.reload()
    expect(page.get_by_text("The last check failed")).to_contain_text("wrong_proof")
    challenge_id, proof = _challenge(page)
    tab.stack.proof_server.proofs[challenge_id] = proof
    page.get_by_role("button", name="Check now").click()
    expect(page.get_by_role("button", name="Create the Release")).to_be_visible()


@pytest.mark.rows("CON-06")
@pytest.mark.parametrize(("allowed", "code"), [(False, "DISALLOWED_NETWORK"), (True, "ENDPOINT_UNAVAILABLE")])
def test_an_endpoint_that_cannot_be_asked_is_told_with_its_recovery(tab: Tab, allowed: bool, code: str) -> None:
    endpoint = f"http://127.0.0.1:{tab.stack.silent_port if allowed else 9}/a2a"
    card = a_card(tab.stack, agentId=tab.stack.agent_id("network"))
    card["protocol"]["endpoint"] = endpoint
    tab.stack.register(**card)
    tab.stack.bind(card["agentId"], endpoint=endpoint)
    page = tab.open(f"/publish?agent={card['agentId']}&version=1.0.0&provider=aop")
    _challenge(page)
    page.get_by_role("button", name="Check now").click()
    notice = page.get_by_role("alert").filter(has_text="The endpoint was not proven")
    expect(notice).to_contain_text(code)
    expect(notice).to_contain_text("Next step: ")


@pytest.mark.rows("CON-09")
def test_another_providers_id_is_not_offered(tab: Tab) -> None:
    page = tab.open(registered(tab.stack))
    page.route(
        "**/v1/providers/theirs/**",
        lambda route: route.fulfill(
            status=403,
            headers={"access-control-allow-origin": tab.stack.console},
            json={"code": "FORBIDDEN", "message": "", "traceId": "1" * 32},
        ),
    )
    page.goto(page.url.replace("provider=aop", "provider=theirs"))
    expect(page.get_by_role("alert")).to_contain_text("The provider id theirs belongs to somebody else")
    page.get_by_label("Provider id").fill("aop")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("button", name="Bind the endpoint")).to_be_visible()


def test_the_next_version_starts_from_the_last_one(tab: Tab) -> None:
    agent_id = tab.stack.agent_id("next")
    tab.stack.publish(agentId=agent_id, name="Next Agent")
    page = tab.open(f"/publish?agent={agent_id}&from=1.0.0")
    expect(page.get_by_label("Version", exact=True)).to_have_value("1.0.1")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Next Agent")
    page.get_by_role("button", name="Register the Card").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Publish {agent_id} 1.0.1")


def test_a_suspended_release_can_be_revoked_and_the_page_of_its_version_says_it_ended(tab: Tab) -> None:
    release = tab.stack.publish(agentId=tab.stack.agent_id("ended"))
    tab.stack.install(tab.stack.workspace(), release["agentId"], [])
    page = tab.open(f"/releases/{release['releaseId']}")
    # In the order of time: the endpoint was proven before there was a Release of it.
    expect(page.get_by_role("region", name="History").get_by_role("listitem")).to_contain_text(
        ["Verified", "Created", "Published"]
    )
    page.get_by_role("button", name="Suspend").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("You cannot undo this")
    expect(dialog.get_by_role("region", name="What depends on it")).to_contain_text(
        "Installed in 1 Workspace: 1 enabled"
    )
    confirm = dialog.get_by_role("button", name="Suspend permanently")
    expect(confirm).to_be_disabled()
    dialog.get_by_label(f"Type {release['agentId']} to confirm").fill(release["agentId"])
    confirm.click()
    expect(dialog).to_contain_text("The Router reports the new state. It took")
    dialog.get_by_role("button", name="Close").last.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Suspended")
    expect(page.get_by_role("button", name="Suspend")).to_have_count(0)
    page.get_by_role("button", name="Revoke").click()
    page.get_by_label(f"Type {release['agentId']} to confirm").fill(release["agentId"])
    page.get_by_role("dialog").get_by_role("button", name="Revoke permanently").click()
    page.get_by_role("dialog").get_by_role("button", name="Close").last.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Revoked")
    page.goto(f"{tab.stack.console}/publish?agent={release['agentId']}&version=1.0.0")
    expect(page.get_by_text("This version is revoked and stays so.")).to_be_visible()


@pytest.mark.rows("SAFE-11")
def test_the_page_of_a_release_says_that_the_operator_suspended_it(tab: Tab) -> None:
    release = tab.stack.publish(agentId=tab.stack.agent_id("hostile"))
    data = str(tab.stack.platform.data)
    command = ("release", "suspend", release["releaseId"], "--operator", "--yes", "--data", data)
    subprocess.run([sys.executable, "-m", "aop", *command], check=True, capture_output=True, timeout=PATIENCE_SECONDS)
    page = tab.open(f"/releases/{release['releaseId']}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Suspended")
    expect(page.get_by_role("listitem").filter(has_text="Suspended")).to_contain_text("by the operator")


def test_disabling_a_version_is_confirmed_with_its_consequence(tab: Tab) -> None:
    agent_id = tab.stack.agent_id("disabled")
    tab.stack.register(agentId=agent_id, name="To be disabled")
    page = tab.open("/my-agents")
    page.get_by_role("button", name=f"Disable {agent_id} 1.0.0").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("You cannot undo this")
    dialog.get_by_role("button", name="Disable permanently").click()
    expect(page.get_by_role("button", name=f"Disable {agent_id} 1.0.0")).to_have_count(0)
    assert tab.stack.caller.get(f"/v1/agents/{agent_id}").json["versions"][0]["publicationStatus"] == "disabled"
