"""What `aop front` finds out before it serves: what the Agent speaks, its Card, and the Router to trust."""

import asyncio
import json
import re
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aop.a2a.versions import A2AVersion
from aop.agent.check.a2a_address import AgentNotFound, AgentSilent, AgentUntrusted, FoundAgent, find_agent
from aop.agent.check.a2a_card import A2ACard, A2ASecurity, A2ASkill
from aop.agent.check.card_draft import OpenPoint, draft_of
from aop.agent.guard import settings as names
from aop.cli.provider.agent_trust import UNTRUSTED, agent_context
from aop.cli.shell.destination import LocalPlatform
from aop.cli.shell.problems import EXIT_UNREACHABLE, CommandProblem, UsageProblem
from aop.contracts.card import AgentCard
from aop.contracts.front_settings import Speaks
from aop.front.secrets import CA_FILE
from aop.net.authorities import beside_public
from aop.net.origin import Endpoint, InvalidEndpoint

_AUTHENTICATION: Final[Mapping[A2ASecurity, Mapping[str, str]]] = {
    A2ASecurity.API_KEY: {"type": "api_key", "header": "x-api-key"},
    A2ASecurity.HTTP_BEARER: {"type": "bearer"},
    A2ASecurity.OAUTH2: {"type": "bearer"},
    A2ASecurity.OPEN_ID_CONNECT: {"type": "bearer"},
    A2ASecurity.HTTP_OTHER: {"type": "basic", "username": "front"},
}


@dataclass(frozen=True)
class Identity:
    """Who the Agent is on the platform; None leaves it to the draft."""

    owner: str | None = None
    agent_id: str | None = None


@dataclass(frozen=True)
class FoundBehind:
    """An Agent to stand before: its members in the settings, without the Card, and the draft of its Card."""

    members: Mapping[str, Any]
    card: Mapping[str, Any]
    open_points: Sequence[OpenPoint] = ()
    authentication: Mapping[str, str] | None = None
    """What it asks of its callers, as far as its agent card says; the secret is missing."""
    skill_ids: Mapping[str, str] = field(default_factory=dict)
    """Its own ids of the Skills that have another one in the draft."""

    def settings_of(self, card: AgentCard) -> dict[str, Any]:
        """Its members in the settings beside this Card, which may have fewer Skills than the draft."""
        skills = {skill.id for skill in card.skills}
        listed = [{"skill": skill, "id": own} for skill, own in self.skill_ids.items() if skill in skills]
        return {**self.members, "skillIds": listed} if listed else {**self.members}


def found_a2a(url: str, origin: str, identity: Identity, ca: Path | None, private: Path | None) -> FoundBehind:
    """`ca` stands for all authorities that are trusted, `private` beside the public ones."""
    found = _found(url, agent_context(ca, url) or beside_public(private))
    version = found.called_in
    if version is None:
        raise CommandProblem(
            f"{found.endpoint} speaks neither A2A 0.3 nor A2A 1.0 over JSON-RPC",
            recovery="for a plain HTTP service add --http and a --route for each Skill",
        )
    members = {"url": found.endpoint, "speaks": Speaks(f"a2a-{version}").value}
    interface = found.card.interface_of(version) if version is A2AVersion.V1_0 else None
    if interface is not None and interface.tenant:
        members["tenant"] = interface.tenant
    scheme = next((_AUTHENTICATION[one] for one in sorted(found.card.security) if one in _AUTHENTICATION), None)
    return _behind(members, found.card, origin, identity, scheme)


def found_service(url: str, routes: Sequence[str], origin: str, identity: Identity) -> FoundBehind:
    """A plain HTTP service: all that is known of it are its routes."""
    paths = dict(_route(text) for text in routes)
    if not paths:
        raise UsageProblem("--http needs at least one --route SKILL=/PATH")
    skills = tuple(A2ASkill(skill, skill, f"POST {path}", (), ("application/json",)) for skill, path in paths.items())
    name = _endpoint(url).host
    card = A2ACard(name, f"The service at {name}.", "1.0.0", "", (), False, skills, frozenset())
    listed = [{"skill": skill, "path": path} for skill, path in paths.items()]
    return _behind({"url": url, "speaks": Speaks.HTTP.value, "routes": listed}, card, origin, identity, None)


def _behind(
    members: Mapping[str, Any], card: A2ACard, origin: str, identity: Identity, scheme: Mapping[str, str] | None
) -> FoundBehind:
    draft = draft_of(card, endpoint=origin, owner_id=identity.owner, agent_id=identity.agent_id)
    made = dict(draft.card)
    made["protocol"] = {**made["protocol"], "endpoint": f"{origin}/{made['agentId']}/{made['version']}"}
    return FoundBehind(members, made, draft.open_points, scheme, draft.skill_ids)


def _found(url: str, tls: ssl.SSLContext | None) -> FoundAgent:
    try:
        return asyncio.run(find_agent(url, tls=tls))
    except InvalidEndpoint as problem:
        raise UsageProblem(f"--to: {problem}") from None
    except AgentSilent as silent:
        recovery = UNTRUSTED if isinstance(silent, AgentUntrusted) else "start the Agent, then repeat"
        raise CommandProblem(str(silent), recovery=recovery, exit_code=EXIT_UNREACHABLE) from None
    except AgentNotFound as problem:
        raise CommandProblem(
            str(problem), recovery="name the address of its agent card, or add --http for a plain HTTP service"
        ) from None


def _endpoint(url: str) -> Endpoint:
    try:
        return Endpoint.parse(url)
    except InvalidEndpoint as problem:
        raise UsageProblem(f"--to: {problem}") from None


def _route(text: str) -> tuple[str, str]:
    skill, _, path = text.partition("=")
    if not skill or not path.startswith("/"):
        raise UsageProblem("--route is SKILL=/PATH")
    return skill, path


def environment_of(caller: Mapping[str, str], local: LocalPlatform | None, ca: Path | None = None) -> Mapping[str, str]:
    """The Router to trust: that of the local platform, unless the environment names another. `ca` is for Agents."""
    caller = dict(caller) if ca is None else {**caller, CA_FILE: str(ca.absolute())}
    if local is None:
        return caller
    credential = local.run.router_credential
    trusted = {
        names.ISSUER: credential.issuer,
        names.KEY_ID: credential.key_id,
        names.PUBLIC_KEY: credential.public_key,
    }
    return {**trusted, **caller}


def write_new(path: Path, document: Mapping[str, Any], *, private: bool = False) -> None:
    """Never over a file that is there."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            if private:
                path.chmod(0o600)
            file.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    except FileExistsError:
        raise CommandProblem(f"{path} is there already", recovery="name another file, or move this one") from None
    except OSError as problem:
        raise CommandProblem(f"{path} cannot be written: {problem.strerror}") from None


def file_name(card: Mapping[str, Any]) -> str:
    return re.sub(r"[^a-z0-9]+", "-", str(card["agentId"]).lower()).strip("-") + ".json"
