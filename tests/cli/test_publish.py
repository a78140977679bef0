"""`aop publish`: every step shown, every failure told with its recovery, and repeated it goes on where it stood."""

import json
from pathlib import Path
from typing import Any

import pytest

from aop.local.ports import DEVELOPMENT_PORTS, any_free_port, is_free
from aop.net.address_settings import ListenAddress
from tests.cli.conftest import Aop, Greeter, Stack
from tests.local.caller import Caller
from tests.support.foreign_agent import NEW, OLD, ForeignAgent, Json, card_0_3, card_1_0, foreign_agent

STEPS = ["registered", "bound", "challenged", "served", "proved", "released", "published"]


@pytest.fixture
def caller(stack: Stack) -> Caller:
    return Caller(stack.run["gateway"], stack.token)


def steps(out: str) -> list[str]:
    return [line.split()[0] for line in out.partition("\n\n")[0].splitlines()]


def elsewhere(endpoint: str) -> dict[str, Any]:
    return {"protocol": {"type": "a2a", "version": "0.3.0", "transport": "JSONRPC", "endpoint": endpoint}}


@pytest.mark.second_ring
def test_an_agent_is_published_in_one_go_and_each_step_is_shown(aop: Aop, greeter: Greeter, caller: Caller) -> None:
    file, agent = greeter.card()
    done = aop("publish", file)
    assert done.code == 0, done.err
    assert steps(done.out) == STEPS
    assert f"aop install {agent}" in done.out
    entry = caller.get(f"/v1/agents/{agent}").json["versions"][0]
    assert (entry["installable"], entry["release"]["state"]) == (True, "published")
    assert not list((greeter.project / ".proofs").iterdir())


@pytest.mark.second_ring
def test_repeated_it_changes_nothing_and_gives_the_release(aop: Aop, greeter: Greeter, caller: Caller) -> None:
    file, agent = greeter.card()
    first = aop("publish", file, "--json").json
    again = aop("publish", file, "--json").json
    assert (first["state"], first["agentId"]) == ("published", agent)
    assert again == first
    assert steps(aop("publish", file).out) == ["registered", "published"]
    bindings = caller.get(f"/v1/providers/local/endpoint-bindings?agentId={agent}").json["items"]
    assert len(bindings) == 1


@pytest.mark.second_ring
def test_no_proof_is_shown_in_any_step(aop: Aop, greeter: Greeter) -> None:
    file, _ = greeter.card()
    done = aop("publish", file)
    evidence = done.out.partition("evidence ")[2].split()[0]
    digest = done.out.partition("digest ")[2].split()[0]
    # A proof is 64 hex digits, as these two are.
    shown = [word for word in done.out.split() if len(word) == 64]
    assert set(shown) <= {evidence, digest}


@pytest.mark.second_ring
def test_an_agent_that_does_not_serve_the_proof_spends_no_challenge_and_can_be_tried_again(
    aop: Aop, greeter: Greeter, caller: Caller, tmp_path: Path
) -> None:
    file, agent = greeter.card()
    failed = aop("publish", file, "--proof-dir", str(tmp_path), "--wait", "0.5")
    assert failed.code == 1
    assert "status 404" in failed.err
    assert "the challenge was not spent" in failed.err
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("chal_")]
    (binding,) = caller.get(f"/v1/providers/local/endpoint-bindings?agentId={agent}").json["items"]
    assert binding["verificationStatus"] == "pending"
    again = aop("publish", file)
    assert (again.code, steps(again.out)) == (0, STEPS)
    assert "already (pending)" in again.out


@pytest.mark.second_ring
def test_a_wrong_proof_is_told_with_its_recovery_and_repaired_by_a_fresh_challenge(
    aop: Aop, greeter: Greeter, tmp_path: Path
) -> None:
    file, _ = greeter.card()
    failed = aop("publish", file, "--proof-dir", str(tmp_path), "--wait", "0", "--json")
    assert (failed.code, failed.error["code"]) == (1, "WRONG_PROOF")
    assert "fresh challenge" in failed.error["recovery"]
    assert failed.error["traceId"]
    again = aop("publish", file)
    assert (again.code, "already (failed)" in again.out) == (0, True)


@pytest.mark.second_ring
def test_an_address_the_platform_does_not_contact_is_told_with_the_option_that_allows_it(
    aop: Aop, greeter: Greeter
) -> None:
    file, _ = greeter.card(**elsewhere(f"http://127.0.0.1:{any_free_port()}/"))
    failed = aop("publish", file, "--wait", "0", "--json")
    assert (failed.code, failed.error["code"]) == (1, "DISALLOWED_NETWORK")
    assert "--allow" in failed.error["recovery"]


@pytest.mark.rows("SOUND-11")
def test_an_agent_that_is_not_running_is_told_before_anything_is_registered(
    aop: Aop, greeter: Greeter, caller: Caller
) -> None:
    port = next(port for port in DEVELOPMENT_PORTS if is_free(ListenAddress("127.0.0.1", port)))
    file, agent = greeter.card(**elsewhere(f"http://127.0.0.1:{port}/"))
    failed = aop("publish", file, "--wait", "0.3", "--json")
    assert (failed.code, failed.error["code"]) == (3, "agent_silent")
    assert "aop agent run" in failed.error["recovery"]
    assert caller.get(f"/v1/agents/{agent}").status == 404


@pytest.mark.second_ring
@pytest.mark.rows("FOR-07")
@pytest.mark.parametrize(
    ("methods", "agent_card", "difference", "fix"),
    [
        (NEW, card_1_0(), "speaks A2A 1.0 only", "enable_v0_3_compat"),
        (OLD, card_0_3(capabilities={"streaming": False}), "says that it does not", '"streaming": false'),
        (OLD, card_0_3(), "does not name the Skill greet", "ids of the Agent"),
    ],
)
def test_an_agent_that_differs_from_its_card_is_told_before_anything_is_released(
    aop: Aop, greeter: Greeter, caller: Caller, methods: tuple[str, ...], agent_card: Json, difference: str, fix: str
) -> None:
    with foreign_agent(ForeignAgent(methods)) as foreign:
        foreign.show(agent_card)
        file, agent = greeter.card(**elsewhere(f"{foreign.origin}/"))
        failed = aop("publish", file)
        told = aop("publish", file, "--json").error
    assert (failed.code, told["code"]) == (1, "agent_differs")
    assert difference in failed.err.splitlines()[0] + told["message"]
    assert fix in failed.err
    assert "--force" in told["recovery"]
    assert caller.get(f"/v1/agents/{agent}").status == 404


@pytest.mark.second_ring
@pytest.mark.rows("FOR-07")
def test_with_force_it_goes_on_and_the_report_is_the_providers_own_file(
    aop: Aop, greeter: Greeter, tmp_path: Path
) -> None:
    skill = json.loads((greeter.project / "card.json").read_text())["skills"][0]
    file, _ = greeter.card(skills=[skill | {"id": "welcome"}])
    report = tmp_path / "report.json"
    assert aop("publish", file, "--report", str(report)).code == 1
    written = json.loads(report.read_text())
    assert (written["speaks"], [one["breaksCalls"] for one in written["differences"]]) == (["0.3"], [True])
    forced = aop("publish", file, "--force")
    assert (forced.code, steps(forced.out)) == (0, STEPS)
    assert "does not name the Skill welcome" in forced.err


@pytest.mark.second_ring
def test_a_verified_binding_without_a_release_is_used(aop: Aop, greeter: Greeter, caller: Caller) -> None:
    file, agent = greeter.card()
    card = json.loads(Path(file).read_text())
    assert caller.post("/v1/agents", card).status == 201
    bindings = f"/v1/providers/local/agents/{agent}/endpoint-bindings"
    body = {"endpoint": card["protocol"]["endpoint"], "method": "http_well_known", "version": "1.0.0"}
    binding = caller.post(bindings, body).json["bindingId"]
    challenges = f"/v1/providers/local/endpoint-bindings/{binding}/challenges"
    challenge = caller.post(challenges).json
    proof = greeter.project / ".proofs" / challenge["challengeId"]
    proof.write_text(challenge["proof"])
    assert caller.post(f"{challenges}/{challenge['challengeId']}/complete").status == 200
    proof.unlink()
    done = aop("publish", file)
    assert (done.code, steps(done.out)) == (0, ["registered", "bound", "released", "published"])


@pytest.mark.second_ring
def test_a_release_made_before_its_binding_was_verified_is_brought_to_its_end(
    aop: Aop, greeter: Greeter, caller: Caller
) -> None:
    file, agent = greeter.card()
    card = json.loads(Path(file).read_text())
    assert caller.post("/v1/agents", card).status == 201
    body = {"endpoint": card["protocol"]["endpoint"], "method": "http_well_known", "version": "1.0.0"}
    binding = caller.post(f"/v1/providers/local/agents/{agent}/endpoint-bindings", body).json["bindingId"]
    release = {"version": "1.0.0", "endpointBindingId": binding}
    made = caller.post(f"/v1/providers/local/agents/{agent}/releases", release).json
    assert made["state"] == "pending_verification"
    done = aop("publish", file)
    assert done.code == 0, done.err
    assert steps(done.out) == ["registered", "challenged", "served", "proved", "verified", "published"]


@pytest.mark.second_ring
def test_a_changed_card_of_a_registered_version_needs_a_new_version(aop: Aop, greeter: Greeter) -> None:
    file, agent = greeter.card()
    assert aop("publish", file).code == 0
    changed, _ = greeter.card(agentId=agent, description="Something else.")
    failed = aop("publish", changed, "--json")
    assert (failed.code, failed.error["code"]) == (1, "CONFLICT")
    assert "raise `version`" in failed.error["recovery"]
    newer, _ = greeter.card(agentId=agent, description="Something else.", version="1.1.0")
    assert aop("publish", newer).code == 0


@pytest.mark.second_ring
@pytest.mark.parametrize(("ending", "code"), [("suspend", "SUSPENDED"), ("revoke", "REVOKED")])
def test_a_release_out_of_use_is_not_published_again(aop: Aop, greeter: Greeter, ending: str, code: str) -> None:
    file, _ = greeter.card()
    release = aop("publish", file, "--json").json["releaseId"]
    assert aop("release", ending, release, "--yes").code == 0
    failed = aop("publish", file, "--json")
    assert (failed.code, failed.error["code"]) == (1, f"AGENT_RELEASE_{code}")
    assert "new Card version" in failed.error["recovery"]


@pytest.mark.second_ring
def test_a_disabled_version_is_not_published_again(aop: Aop, greeter: Greeter, caller: Caller) -> None:
    file, agent = greeter.card()
    assert aop("publish", file).code == 0
    assert caller.post(f"/v1/agents/{agent}/versions/1.0.0/disable").status == 200
    failed = aop("publish", file, "--json")
    assert (failed.code, failed.error["code"]) == (1, "AGENT_DISABLED")


@pytest.mark.second_ring
def test_a_card_of_another_owner_is_refused_with_the_reason(aop: Aop, greeter: Greeter) -> None:
    file, _ = greeter.card(owner={"id": "somebody", "displayName": "Somebody"})
    failed = aop("publish", file, "--json")
    assert (failed.code, failed.error["code"]) == (1, "FORBIDDEN")
    assert "owner.id of the Card is 'somebody'" in failed.error["recovery"]


@pytest.mark.second_ring
def test_an_agent_keeps_its_provider(aop: Aop, greeter: Greeter, stack: Stack) -> None:
    file, agent = greeter.card()
    assert aop("publish", file, "--provider", stack.new_id("provider")).code == 0
    newer, _ = greeter.card(agentId=agent, version="2.0.0")
    failed = aop("publish", newer, "--json")
    assert (failed.code, failed.error["code"], "--provider" in failed.error["recovery"]) == (1, "CONFLICT", True)


@pytest.mark.second_ring
def test_a_card_that_breaks_a_rule_is_not_sent(aop: Aop, greeter: Greeter, caller: Caller) -> None:
    file, agent = greeter.card(version="one")
    failed = aop("publish", file)
    assert (failed.code, "/version" in failed.err) == (1, True)
    assert aop("publish", file, "--json").error["violations"][0]["pointer"] == "/version"
    assert caller.get(f"/v1/agents/{agent}").status == 404


@pytest.mark.second_ring
def test_where_proofs_are_served_from_must_be_known(aop: Aop, greeter: Greeter, tmp_path: Path) -> None:
    file, _ = greeter.card()
    moved = tmp_path / "card.json"
    moved.write_text(Path(file).read_text())
    failed = aop("publish", str(moved))
    assert (failed.code, "--proof-dir" in failed.err) == (1, True)
    proofs = str(greeter.project / ".proofs")
    assert aop("publish", str(moved), PLATFORM_AGENT_CHALLENGE_DIRECTORY=proofs).code == 0


@pytest.mark.second_ring
def test_releases_are_listed_and_shown(aop: Aop, greeter: Greeter) -> None:
    file, agent = greeter.card()
    made = aop("publish", file, "--json").json
    (listed,) = aop("release", "list", "--agent", agent, "--json").json["items"]
    assert listed == made
    assert made["releaseId"] in aop("release", "list", "--provider", "local").out
    assert aop("release", "show", made["releaseId"], "--json").json == made
    assert "published" in aop("release", "show", made["releaseId"]).out
    assert aop("release", "list", "--provider", "nobody-at-all", "--json").error["code"] == "NOT_FOUND"
    assert aop("release", "show", "rel_unknown").code == 1


@pytest.mark.second_ring
def test_a_release_is_taken_out_of_use_only_when_somebody_confirms(aop: Aop, greeter: Greeter) -> None:
    file, _ = greeter.card()
    release = aop("publish", file, "--json").json["releaseId"]
    asked = aop("release", "suspend", release, "--json")
    assert (asked.code, asked.error["code"]) == (1, "declined")
    assert aop("release", "suspend", release, "--yes", "--json").json["state"] == "suspended"
    revoked = aop("release", "revoke", release, "--yes", "--json").json
    assert (revoked["state"], "suspendedAt" in revoked, "revokedAt" in revoked) == ("revoked", True, True)
    assert aop("release", "revoke", release, "--yes", "--json").error["code"] == "CONFLICT"
