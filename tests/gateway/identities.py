"""A caller of the Gateway with an access token, and what it does with its own tokens."""

from dataclasses import dataclass
from typing import Any

from aop.control_plane.gateway.sign_in import make_operators_code
from aop.local.state import DatabaseUrls
from tests.support.units import Reply, RunningUnit


@dataclass(frozen=True)
class Holder:
    gateway: RunningUnit
    token: str

    async def ask(self, method: str, path: str, body: object = None) -> Reply:
        return await self.gateway.ask(method, path, body, token=self.token)

    async def status(self) -> int:
        return (await self.ask("GET", "/v1/me")).status

    async def make(self, label: str = "made", days: float | None = None) -> tuple["Holder", dict[str, Any]]:
        reply = await self.ask("POST", "/v1/me/tokens", {"label": label, **({} if days is None else {"days": days})})
        assert reply.status == 201, reply.body
        return Holder(self.gateway, reply.json["token"]), reply.json

    async def code(self) -> str:
        reply = await self.ask("POST", "/v1/me/sign-in-codes")
        assert reply.status == 201, reply.body
        return str(reply.json["code"])

    async def tokens(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await self.ask("GET", "/v1/me/tokens?limit=100")).json["items"]
        return found

    async def own_record(self) -> dict[str, Any]:
        (record,) = [token for token in await self.tokens() if token["current"]]
        return record


async def redeem(gateway: RunningUnit, code: str) -> Reply:
    return await gateway.post("/v1/sign-in", {"code": code})


async def signed_in(gateway: RunningUnit, code: str) -> Holder:
    reply = await redeem(gateway, code)
    assert reply.status == 201, reply.body
    return Holder(gateway, reply.json["token"])


async def operators_session(gateway: RunningUnit, stores: DatabaseUrls, principal: str = "alice") -> Holder:
    made = await make_operators_code(stores.control_plane, principal)
    return await signed_in(gateway, made.code.reveal())
