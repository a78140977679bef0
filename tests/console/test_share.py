"""Share links: one exact form, read without a token, installed through the authenticated route."""

import re
import urllib.request

import pytest
from playwright.sync_api import expect

from tests.console.browser import Tab
from tests.support.waiting import PATIENCE_SECONDS


def _shared(tab: Tab) -> str:
    return str(tab.stack.caller.get("/v1/agents/aop:summarizer").json["publicUrl"])


@pytest.mark.rows("CON-03")
def test_a_share_link_is_read_without_authorization_and_nothing_is_chosen_beforehand(tab: Tab) -> None:
    page = tab.open("/discover")
    page.get_by_role("article").first.wait_for()
    page.goto(_shared(tab))
    expect(page.get_by_role("radio")).to_have_count(1)
    expect(page.get_by_role("radio")).not_to_be_checked()
    expect(page.get_by_text("Choose a version first.")).to_be_visible()
    expect(page.get_by_role("button", name="Install in a Workspace")).to_be_disabled()
    (read,) = [request for request in tab.requests if "/v1/public/agents/" in request.url]
    assert "authorization" not in read.all_headers()


@pytest.mark.second_ring
@pytest.mark.rows("CON-03", "SHARE-06")
def test_installing_from_the_link_posts_the_exact_version_with_the_accepted_permissions(tab: Tab) -> None:
    workspace_id = tab.stack.workspace("shared")
    tab.open("/discover")
    page = tab.page
    page.goto(_shared(tab))
    page.get_by_role("radio").check()
    page.get_by_role("button", name="Install in a Workspace").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Workspace", exact=True).select_option(workspace_id)
    expect(dialog.get_by_role("checkbox", name="text.read")).not_to_be_checked()
    with page.expect_request(f"**/v1/workspaces/{workspace_id}/installations") as asked:
        dialog.get_by_role("button", name="Install anyway").click()
    assert asked.value.post_data_json == {
        "agentId": "aop:summarizer",
        "versionConstraint": "1.0.0",
        "acceptedPermissions": [],
    }
    expect(page).to_have_url(f"{tab.stack.console}/workspaces/{workspace_id}?agent=aop%3Asummarizer")


@pytest.mark.second_ring
def test_the_newest_version_is_described_to_anybody_and_another_one_when_it_is_chosen(tab: Tab) -> None:
    agent = tab.stack.agent_id("described")
    first = tab.stack.publish(agentId=agent, name="Old name", description="What it did.")
    second = tab.stack.publish(agentId=agent, version="1.1.0", name="New name", description="What it does now.")
    page = tab.page
    page.goto(tab.stack.caller.get(f"/v1/agents/{agent}").json["publicUrl"])
    expect(page.get_by_role("heading", level=1)).to_have_text("New name")
    expect(page).to_have_title("New name · Agent Operating Platform")
    newest = page.get_by_role("region", name="Version 1.1.0")
    expect(newest).to_contain_text("Newest version")
    expect(newest.get_by_role("region", name="Skill summarize")).to_contain_text("text")
    expect(page.get_by_title(second["cardDigest"])).to_be_visible()
    line = page.get_by_role("region", name="install command")
    expect(line).to_have_text(re.compile(rf"^aop install {agent} \\\s+--version 1\.1\.0$"))
    page.get_by_role("radio", name="1.0.0").check()
    expect(page.get_by_role("region", name="Version 1.0.0")).to_contain_text("What it did.")
    expect(page.get_by_title(first["cardDigest"])).to_be_visible()
    shown = page.content()
    for secret in (first["endpointBindingId"], tab.stack.proof_server.endpoint, first["verificationEvidenceDigest"]):
        assert secret not in shown


@pytest.mark.second_ring
def test_a_share_link_has_a_preview_where_it_is_pasted_whatever_its_provider_wrote(tab: Tab) -> None:
    hostile = '"><script>alert(1)</script>\u202e'
    release = tab.stack.publish(agentId=tab.stack.agent_id("preview"), name=hostile, description=hostile)
    link = str(tab.stack.caller.get(f"/v1/agents/{release['agentId']}").json["publicUrl"])
    with urllib.request.urlopen(link, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
        page = answer.read().decode()
        policy = answer.headers["content-security-policy"]
    escaped = "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\ufffd"
    assert f"<title>{escaped} · Agent Operating Platform</title>" in page
    assert f'<meta property="og:description" content="{escaped}" />' in page
    assert "<script>" not in page
    assert "script-src 'self'" in policy
    tab.page.goto(link)
    expect(tab.page.get_by_role("heading", level=1)).to_contain_text("alert(1)")


@pytest.mark.second_ring
def test_someone_who_is_not_signed_in_is_led_through_sign_in_back_to_the_link(tab: Tab) -> None:
    page = tab.page
    page.goto(_shared(tab))
    page.get_by_role("link", name="Sign in to install").click()
    page.get_by_label("Access token").fill(tab.stack.token)
    page.get_by_role("button", name="Sign in with a token").click()
    expect(page).to_have_url(_shared(tab))
    expect(page.get_by_role("button", name="Install in a Workspace")).to_be_visible()


@pytest.mark.second_ring
@pytest.mark.rows("CON-04")
@pytest.mark.parametrize("spoilt", ["{link}/", "{link}?a=1", "{link}#x", "{upper}", "{escaped}"])
def test_an_address_that_is_not_exactly_the_link_is_refused(tab: Tab, spoilt: str) -> None:
    link = _shared(tab)
    address = spoilt.format(link=link, upper=link.replace("agt_", "AGT_"), escaped=link.replace("agt_", "agt%5F"))
    tab.page.goto(address)
    expect(tab.page.get_by_text("This address is not a share link of this platform.")).to_be_visible()
    assert not [request for request in tab.requests if "/v1/public/" in request.url]


@pytest.mark.rows("CON-04")
def test_a_pasted_link_is_opened_only_in_its_exact_form(tab: Tab) -> None:
    link = _shared(tab)
    page = tab.open("/discover")
    page.get_by_role("button", name="Open a share link").click()
    others = (
        link.replace("http://", "https://"),
        link.replace("127.0.0.1", "localhost"),
        link.replace("http://", "http://user@"),
        f"{link}/",
        f"{link}?q",
        f"{link}#",
        link.replace("/a/", "/A/"),
    )
    for other in others:
        page.get_by_label("Link", exact=True).fill(other)
        page.get_by_role("button", name="Open", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("This is not a share link")
    page.get_by_label("Link", exact=True).fill(link)
    page.get_by_role("button", name="Open", exact=True).click()
    expect(page).to_have_url(link)
    expect(page.get_by_role("heading", name="Summarizer")).to_be_visible()


@pytest.mark.second_ring
def test_an_agent_that_is_no_longer_installable_says_so(tab: Tab) -> None:
    release = tab.stack.publish(agentId=tab.stack.agent_id("gone"))
    tab.stack.caller.post(f"/v1/releases/{release['releaseId']}/revoke")
    overview = tab.stack.caller.get(f"/v1/agents/{release['agentId']}").json
    tab.page.goto(overview["publicUrl"])
    expect(tab.page.get_by_text("This Agent cannot be installed now.")).to_be_visible()


@pytest.mark.second_ring
def test_releases_beyond_the_first_page_can_be_chosen_as_well(tab: Tab) -> None:
    agent = tab.stack.agent_id("many")
    for number in range(27):
        tab.stack.publish(agentId=agent, version=f"1.{number}.0")
    tab.page.goto(tab.stack.caller.get(f"/v1/agents/{agent}").json["publicUrl"])
    expect(tab.page.get_by_role("radio")).to_have_count(25)
    tab.page.get_by_role("button", name="Load more").click()
    expect(tab.page.get_by_role("radio")).to_have_count(27)
    expect(tab.page.get_by_role("button", name="Load more")).to_have_count(0)
    tab.page.get_by_role("radio").last.check()
    expect(tab.page.get_by_role("radio").last).to_be_checked()
