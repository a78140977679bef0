"""Reader of the Front settings: the Agents behind one front, how each is reached, and whom the front trusts."""

from enum import StrEnum
from pathlib import Path
from typing import Literal

import msgspec

from aop.contracts.wire import Wire

Text = str | msgspec.UnsetType


class Speaks(StrEnum):
    A2A_0_3 = "a2a-0.3"
    A2A_1_0 = "a2a-1.0"
    HTTP = "http"


class FrontRouter(Wire, frozen=True, kw_only=True):
    issuer: str
    key_id: str
    public_key: str


class FrontLimits(Wire, frozen=True, kw_only=True):
    max_calls: int | msgspec.UnsetType = msgspec.UNSET
    max_request_bytes: int | msgspec.UnsetType = msgspec.UNSET
    max_held_bytes: int | msgspec.UnsetType = msgspec.UNSET


class FrontAuthentication(Wire, frozen=True, kw_only=True):
    type: Literal["api_key", "bearer", "basic"]
    header: Text = msgspec.UNSET
    username: Text = msgspec.UNSET
    secret: Text = msgspec.UNSET
    secret_file: Text = msgspec.UNSET

    def __repr__(self) -> str:
        return f"FrontAuthentication({self.type})"


class FrontTls(Wire, frozen=True, kw_only=True):
    ca_file: Text = msgspec.UNSET
    certificate_file: Text = msgspec.UNSET
    key_file: Text = msgspec.UNSET


class FrontRoute(Wire, frozen=True, kw_only=True):
    skill: str
    path: str


class FrontSkillId(Wire, frozen=True, kw_only=True):
    skill: str
    id: str


class FrontAgent(Wire, frozen=True, kw_only=True):
    card: str
    url: str
    speaks: Speaks
    tenant: Text = msgspec.UNSET
    routes: tuple[FrontRoute, ...] | msgspec.UnsetType = msgspec.UNSET
    skill_ids: tuple[FrontSkillId, ...] | msgspec.UnsetType = msgspec.UNSET
    delegation: Literal["drop", "forward"] | msgspec.UnsetType = msgspec.UNSET
    authentication: FrontAuthentication | msgspec.UnsetType = msgspec.UNSET
    tls: FrontTls | msgspec.UnsetType = msgspec.UNSET


class FrontSettings(Wire, frozen=True, kw_only=True):
    agents: tuple[FrontAgent, ...]
    listen: Text = msgspec.UNSET
    origin: Text = msgspec.UNSET
    challenge_directory: Text = msgspec.UNSET
    router: FrontRouter | msgspec.UnsetType = msgspec.UNSET
    limits: FrontLimits | msgspec.UnsetType = msgspec.UNSET


def versions_folder(card: Path) -> Path:
    """Where the Cards of the other versions of this Agent are."""
    return card.with_name(f"{card.name.removesuffix('.json')}.versions")


READERS: dict[str, type] = {"front-settings/2": FrontSettings}
