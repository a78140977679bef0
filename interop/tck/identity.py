"""As whom the kit signs or calls: passed from our process to the kit's in one environment variable."""

import os
from typing import Final, Self

import msgspec

from aop.agent.testing import SignedRouter

SETTING: Final = "AOP_TCK_IDENTITY"


class _Passed(msgspec.Struct, frozen=True):
    @classmethod
    def from_environment(cls) -> Self:
        return msgspec.json.decode(os.environ[SETTING], type=cls)  # noqa: TID251

    def environment(self) -> dict[str, str]:
        return {SETTING: msgspec.json.encode(self).decode()}


class CallerIdentity(_Passed, frozen=True):
    """Where the Agent is at the door, with which token, and in which version of A2A its card is read."""

    address: str
    token: str
    version: str


class Identity(_Passed, frozen=True):
    """The Agent that is addressed and the seed of the key it believes; the key belongs to no deployment."""

    origin: str
    agent_id: str
    skill_id: str
    seed: bytes

    def router(self) -> SignedRouter:
        return SignedRouter.new(self.origin, self.seed, agent_id=self.agent_id)
