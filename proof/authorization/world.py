"""Two owners who each have one of everything, and are callers of each other; and all who may come to the doors."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from aop.base.clock import utc_now
from aop.base.ids import new_id, new_random_id, new_trace_id
from aop.control_plane.gateway.sign_in import make_operators_code
from aop.control_plane.gateway.tokens import Tokens, issue_token, new_token_text
from aop.local.state import DatabaseUrls
from aop.store.database import connect
from proof.authorization.rules import ABSENT, CALLED, FOREIGN, FORMER, OWN, SHARED, Access, Relation
from proof.authorization.tree import all_in_tree
from proof.traffic import LONG_CARD, LONG_DEADLINE
from tests.support.agent import credential_of, echo
from tests.support.catalog import provider_of
from tests.support.loop import SPACE, Changes, Platform, agent_card, published, running_platform
from tests.support.nested import running_parent
from tests.support.peers import Received
from tests.support.publication import Provider
from tests.support.settings import CONTROL_PLANE_TO_ROUTER, ROUTER_TO_CONTROL_PLANE, principals
from tests.support.units import RunningUnit
from tests.support.workspaces import Owner

CALLER = "carol"
"""May call in the own Workspace of each owner, and never does."""
OPERATOR = "service-token-of-an-operator"
QUIET = {"PLATFORM_LOG_LEVEL": "error", **LONG_DEADLINE}

Named = Mapping[tuple[str, Relation], str]
"""The identifier of the object that has this relation to the caller."""


@dataclass(frozen=True)
class Visitor:
    """Somebody with these Authorization values: whom they pass for, and as whose objects they are tried."""

    name: str
    authorization: Sequence[str]
    passes: Access | None = None
    owner: str = "alice"
    malformed: bool = False
    too_late: bool = False
    """A delegation whose Invocation has ended: genuine, and good for nothing."""


@dataclass(frozen=True)
class World:
    platform: Platform
    visitors: Sequence[Visitor]
    named: Mapping[str, Named]
    """By owner."""
    codes: Iterator[str]
    """Open sign-in codes; each serves one visitor."""

    def unit(self, document: str, *, misplaced: bool = False) -> RunningUnit:
        """The one that serves the operations of this OpenAPI document, or, misplaced, the other."""
        at_gateway = document in {"gateway.v1", "control-plane-internal.v1"}
        return self.platform.gateway if at_gateway != misplaced else self.platform.router

    def token(self, access: Access) -> str:
        """Of the first who is served; where anyone is, of a caller."""
        wanted = Access.CALLER if access is Access.ANYONE else access
        served = (one.authorization[0] for one in self.visitors if one.passes is wanted and not one.too_late)
        return next(served).removeprefix("Bearer ")


@dataclass(frozen=True)
class _Possessions:
    """What one owner hides, what it published, a Workspace that the other may call, and one that it could once call."""

    hidden: Mapping[str, str]
    shared: Mapping[str, str]
    open: Mapping[str, str]
    closed: Mapping[str, str]


@asynccontextmanager
async def opened_world(stores: DatabaseUrls) -> AsyncIterator[World]:
    router = {**QUIET, "PLATFORM_ROUTER_SERVICE_PRINCIPALS_JSON": _router_principals()}
    async with running_platform(stores, Changes(control_plane=QUIET, router=router, card=LONG_CARD)) as platform:
        bobs = (await issue_token(stores.control_plane, "bob")).token.reveal()
        have = {"alice": await _alice(platform), "bob": await _bob(platform, bobs)}
        named = {"alice": _named(have["alice"], have["bob"]), "bob": _named(have["bob"], have["alice"])}
        platform.agent.usual = (echo,)
        (ended,) = platform.agent.calls("message/send")[0].values("x-platform-delegation")
        await all_in_tree(stores)
        async with running_parent(platform) as parent:
            visitors = [
                *(await _strangers(stores)),
                *_registered(platform.token, bobs, parent.request),
                Visitor("ended delegation", [f"Bearer {ended}"], Access.DELEGATION, too_late=True),
            ]
            codes = [await make_operators_code(stores.control_plane, "carol") for _ in visitors]
            yield World(platform, visitors, named, iter([made.code.reveal() for made in codes]))


def _router_principals() -> str:
    entries = [principals("control-plane", CONTROL_PLANE_TO_ROUTER), principals("operator", OPERATOR)]
    return ",".join(entries).replace("],[", ",")


async def _strangers(stores: DatabaseUrls) -> list[Visitor]:
    """Those who pass nowhere."""
    connection = await connect(stores.control_plane, application="test")
    try:
        expired = await Tokens(connection, lambda: utc_now() - timedelta(days=2)).issue("alice", days=1)
        revoked = await Tokens(connection).issue("alice")
        await Tokens(connection).revoke(revoked.record.token_id)
    finally:
        await connection.close()
    unknown = new_token_text()
    mistyped = unknown[:-1] + ("a" if unknown[-1] != "a" else "b")
    texts = {"unknown token": unknown, "mistyped token": mistyped}
    texts |= {"expired token": expired.token.reveal(), "revoked token": revoked.token.reveal()}
    return [
        Visitor("nobody", [], malformed=True),
        Visitor("empty bearer", ["Bearer"], malformed=True),
        *(Visitor(name, [f"Bearer {text}"]) for name, text in texts.items()),
    ]


def _registered(alices: str, bobs: str, parent: Received) -> list[Visitor]:
    (credential,) = parent.values("authorization")
    (delegation,) = parent.values("x-platform-delegation")
    assert credential_of(parent).header["typ"] == "platform-router+jwt"
    return [
        Visitor("other scheme", [f"Basic {alices}"], malformed=True),
        Visitor("two tokens", [f"Bearer {alices}", f"Bearer {alices}"], malformed=True),
        Visitor("alice", [f"Bearer {alices}"], Access.CALLER),
        Visitor("bob", [f"bearer {bobs}"], Access.CALLER, owner="bob"),
        Visitor("Router", [f"Bearer {ROUTER_TO_CONTROL_PLANE}"], Access.ROUTER),
        Visitor("Control Plane", [f"Bearer {CONTROL_PLANE_TO_ROUTER}"], Access.CONTROL_PLANE),
        Visitor("operator", [f"Bearer {OPERATOR}"], Access.CONTROL_PLANE),
        Visitor("Agent with its credential", [credential]),
        Visitor("delegation", [f"Bearer {delegation}"], Access.DELEGATION),
    ]


async def _alice(platform: Platform) -> _Possessions:
    listed = await platform.owner.page(f"/{SPACE}/installations")
    shared = {"releaseId": platform.release.release_id, "agentId": platform.card["agentId"]}
    return await _possessions(platform, platform.owner, "alice", shared, (SPACE, listed["items"][0]["installationId"]))


async def _bob(platform: Platform, token: str) -> _Possessions:
    owner, space = Owner(platform.gateway, token), "space-of-bob"
    card = agent_card(platform.agent, agent_id="bob:agent", owner="bob", **LONG_CARD)
    release = await published(platform.catalog, card)
    await owner.workspace(space)
    installed = await owner.install("bob:agent", accepted=[], space=space)
    await platform.sees(release, "published")
    shared = {"releaseId": release.release_id, "agentId": "bob:agent"}
    return await _possessions(platform, owner, "bob", shared, (space, installed["installationId"]))


async def _possessions(
    platform: Platform, owner: Owner, who: str, shared: Mapping[str, str], place: tuple[str, str]
) -> _Possessions:
    """What is hidden of one owner: a draft with a pending Binding, a Release that waits, a Workspace, an Invocation."""
    provider = Provider(platform.gateway, owner.token, who, provider_of(who))
    url, (space, installation) = platform.agent.url, place
    pending, waiting = [await provider.new_binding(url, f"{who}:{name}") for name in ("hidden", "waiting")]
    challenge, proof = await provider.challenge(pending), await provider.challenge(waiting)
    for issued in (challenge, proof):
        platform.agent.serve(issued["challengeId"], issued["proof"])
    release = await provider.new_release(waiting)
    assert (await provider.complete(proof)).status == 200
    invoked = await _invoked(owner, shared["agentId"], space)
    await _add_caller(owner, space, CALLER)
    hidden = {
        "agentId": f"{who}:hidden",
        "version": "1.0.0",
        "owner": who,
        "publicAgentId": (await provider.card(f"{who}:hidden"))["publicAgentId"],
        "providerId": provider.provider_id,
        "bindingId": pending["bindingId"],
        "challengeId": challenge["challengeId"],
        "releaseId": release["releaseId"],
        "workspaceId": space,
        "installationId": installation,
        "principalId": who,
        **invoked,
        "tokenId": (await platform.gateway.post("/v1/me/tokens", {"label": "own"}, token=owner.token)).json["tokenId"],
    }
    return _Possessions(hidden, shared, *(await _shared_workspaces(owner, who, shared["agentId"])))


async def _shared_workspaces(owner: Owner, who: str, agent_id: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """One that the other owner may call, and one from which it was removed."""
    (other,) = {"alice", "bob"} - {who}
    open_space, closed_space = f"open-space-of-{who}", f"closed-space-of-{who}"
    for space in (open_space, closed_space):
        await owner.workspace(space)
        await _add_caller(owner, space, other)
    assert (await owner.ask("DELETE", f"/{closed_space}/callers/{other}")).status == 200
    installed = await owner.install(agent_id, accepted=[], space=open_space)
    called = {
        "workspaceId": open_space,
        "installationId": installed["installationId"],
        "principalId": CALLER,
        **(await _invoked(owner, agent_id, open_space)),
    }
    return called, {"workspaceId": closed_space}


async def _add_caller(owner: Owner, space: str, principal_id: str) -> None:
    assert (await owner.ask("PUT", f"/{space}/callers/{principal_id}")).status == 201


async def _invoked(owner: Owner, agent_id: str, space: str) -> dict[str, str]:
    body: dict[str, Any] = {"agentId": agent_id, "capability": "work", "input": {}, "stream": False}
    result = (await owner.ask("POST", f"/{space}/invocations", body)).json
    return {name: result[name] for name in ("invocationId", "traceId")}


def _named(mine: _Possessions, theirs: _Possessions) -> Named:
    absent = {
        "agentId": "nobody:agent",
        "version": "9.9.9",
        "owner": "nobody",
        "publicAgentId": new_random_id("agt"),
        "providerId": "unclaimed",
        "bindingId": new_id("bind"),
        "challengeId": new_id("chal"),
        "releaseId": new_id("rel"),
        "workspaceId": "nowhere",
        "installationId": new_id("inst"),
        "principalId": "nobody",
        "invocationId": new_id("inv"),
        "traceId": new_trace_id(),
        "tokenId": new_id("tok"),
        "code": "unknown",
    }
    named: dict[tuple[str, Relation], str] = {}
    for relation, found in ((CALLED, theirs.open), (FORMER, theirs.closed)):
        named |= {(name, relation): value for name, value in found.items()}
    for relation, found in ((OWN, mine.hidden), (FOREIGN, theirs.hidden), (SHARED, theirs.shared), (ABSENT, absent)):
        named |= {(name, relation): value for name, value in found.items()}
        named["code", relation] = found.get("code", "")
        named["target", relation] = found["agentId"]
        named["binding", relation] = found.get("bindingId", "")
    named["target", OWN] = mine.shared["agentId"]
    return named
