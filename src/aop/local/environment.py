"""The settings that `aop up` gives each unit. The caller's environment overrides them; its allow-list is added."""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import msgspec

from aop.base.settings import SettingProblem, SettingsRefused
from aop.console.settings import API_BASE_URL, PUBLIC_AGENT_ORIGIN, read_console_settings
from aop.contracts.signing import SigningKey
from aop.control_plane.settings import read_control_plane_settings
from aop.door.settings import GATEWAY_ORIGIN as DOOR_GATEWAY
from aop.door.settings import LISTEN_ADDRESS as DOOR_ADDRESS
from aop.door.settings import ORIGIN as DOOR_ORIGIN
from aop.door.settings import read_door_settings
from aop.local.ports import DEVELOPMENT_PORTS, Ports
from aop.local.secrets import LocalSecrets
from aop.local.state import DatabaseUrls, RouterCredential, ServiceTokens
from aop.net.address_settings import ListenAddress, listen_address
from aop.net.sockets import MAX_PATH_BYTES
from aop.router.settings import read_router_settings
from aop.serving.unit.unit_settings import CONTROL_PLANE_SOCKET, DRAIN_SECONDS, GRACE_SECONDS, ROUTER_SOCKET

ALLOW_LIST = "PLATFORM_ENDPOINT_ALLOWED_PRIVATE_HOSTS_JSON"
GATEWAY_ADDRESS = "PLATFORM_LISTEN_ADDRESS"
ROUTER_ADDRESS = "PLATFORM_ROUTER_LISTEN_ADDRESS"
CONSOLE_ADDRESS = "PLATFORM_CONSOLE_LISTEN_ADDRESS"
DATABASES = ("PLATFORM_DATABASE_URL", "PLATFORM_ROUTER_DATABASE_URL", "PLATFORM_MIGRATION_DATABASE_URL")

_ROUTER_ORIGIN, _GATEWAY_ORIGIN = "PLATFORM_ROUTER_INTERNAL_ORIGIN", "PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN"
_LOOPBACK = "127.0.0.1"
_ANY_ADDRESS = {"0.0.0.0": _LOOPBACK, "::": "::1"}  # noqa: S104  listening everywhere, reached on loopback
_ROUTER_TOKEN, _CONTROL_PLANE_TOKEN = "PLATFORM_ROUTER_INTERNAL_BEARER_TOKEN", "PLATFORM_CONTROL_PLANE_SERVICE_TOKEN"
_SIGNING_KEY = "PLATFORM_ROUTER_AGENT_CREDENTIAL_PRIVATE_KEY_BASE64URL"
_ISSUER, _KEY_ID = "PLATFORM_ROUTER_AGENT_CREDENTIAL_ISSUER", "PLATFORM_ROUTER_AGENT_CREDENTIAL_KEY_ID"
# Would make every start of a unit compile its code again.
_NOT_PASSED_ON = frozenset({"PYTHONDONTWRITEBYTECODE"})


class UnitKind(NamedTuple):
    """The setting of its address, the reader of its settings, and the setting of its unix socket, if it has one."""

    address: str
    read: Callable[[Mapping[str, str]], object]
    socket: str = ""


UNITS: Mapping[str, UnitKind] = {
    "control-plane": UnitKind(GATEWAY_ADDRESS, read_control_plane_settings, CONTROL_PLANE_SOCKET),
    "router": UnitKind(ROUTER_ADDRESS, read_router_settings, ROUTER_SOCKET),
    "door": UnitKind(DOOR_ADDRESS, read_door_settings),
    "console": UnitKind(CONSOLE_ADDRESS, read_console_settings),
}
"""The units of the platform, in the order of their start."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the parts listen: the caller's setting, else the port of the data folder."""

    units: Mapping[str, ListenAddress]
    agents: tuple[ListenAddress, ...]
    sockets: Mapping[str, str] = field(default_factory=dict)
    """Settings that name the unix sockets of units, for requests of one to the other."""

    @classmethod
    def of(cls, ports: Ports, caller: Mapping[str, str], folder: Path) -> "Addresses":
        def place(setting: str, port: int) -> ListenAddress:
            text = caller.get(setting)
            try:
                return ListenAddress(_LOOPBACK, port) if text is None else listen_address(text)
            except ValueError as problem:
                raise SettingsRefused([SettingProblem(setting, str(problem))]) from None

        numbers = {
            "control-plane": ports.gateway,
            "router": ports.router,
            "door": ports.door,
            "console": ports.console,
        }
        return cls(
            units={name: place(kind.address, numbers[name]) for name, kind in UNITS.items()},
            agents=tuple(ListenAddress(_LOOPBACK, port) for port in ports.agents),
            sockets=_sockets(folder / "run", caller),
        )


@dataclass(frozen=True)
class LocalSettings:
    """Everything decided for one run: environment and origin of each unit, and what other programs may know."""

    environments: Mapping[str, Mapping[str, str]]
    origins: Mapping[str, str]
    stop_seconds: int
    """How long a unit may take to end: its drain and its grace."""
    allow_list: Sequence[str]
    credential: RouterCredential
    service_tokens: ServiceTokens


def local_settings(
    addresses: Addresses,
    secrets: LocalSecrets,
    databases: DatabaseUrls,
    allowed: Sequence[str],
    caller: Mapping[str, str],
    *,
    development_ports: bool = True,
) -> LocalSettings:
    """Reads the result with the units' own readers, so that a bad setting is known before anything starts."""
    allow_list = _allow_list(addresses, allowed, caller, DEVELOPMENT_PORTS if development_ports else ())
    supplied = _supplied(addresses, secrets, databases) | dict(caller) | {ALLOW_LIST: _json(allow_list)}
    # The serving side must know the very token its client uses, whoever chose it.
    supplied.setdefault("PLATFORM_INTERNAL_PRINCIPALS_JSON", _principals("router-1", supplied[_CONTROL_PLANE_TOKEN]))
    supplied.setdefault(
        "PLATFORM_ROUTER_SERVICE_PRINCIPALS_JSON", _principals("control-plane", supplied[_ROUTER_TOKEN])
    )
    environments = {name: _for_unit(supplied, kind.read) for name, kind in UNITS.items()}
    _require_readable(environments)
    return LocalSettings(
        environments=environments,
        origins=_origins(addresses),
        stop_seconds=int(supplied[DRAIN_SECONDS]) + int(supplied[GRACE_SECONDS]),
        allow_list=allow_list,
        credential=RouterCredential(
            supplied[_ISSUER], supplied[_KEY_ID], SigningKey.parse(supplied[_SIGNING_KEY]).public_text
        ),
        service_tokens=ServiceTokens(supplied[_ROUTER_TOKEN], supplied[_CONTROL_PLANE_TOKEN]),
    )


def external_databases(caller: Mapping[str, str]) -> DatabaseUrls | None:
    """The three URLs of an external server; None to use the embedded one."""
    missing = [name for name in DATABASES if name not in caller]
    if len(missing) == len(DATABASES):
        return None
    if missing:
        reason = "is required when another database URL is set: all three or none"
        raise SettingsRefused([SettingProblem(name, reason) for name in missing])
    control_plane, router, migration = (caller[name] for name in DATABASES)
    return DatabaseUrls(control_plane, router, migration)


def _origins(addresses: Addresses) -> dict[str, str]:
    return {
        name: ListenAddress(_ANY_ADDRESS.get(address.host, address.host), address.port).origin
        for name, address in addresses.units.items()
    }


def _supplied(addresses: Addresses, secrets: LocalSecrets, databases: DatabaseUrls) -> dict[str, str]:
    origins = _origins(addresses)
    gateway, router, console = origins["control-plane"], origins["router"], origins["console"]
    return {
        # Nobody balances calls between several of these units, so nobody has to learn that one ends.
        DRAIN_SECONDS: "0",
        GRACE_SECONDS: "1",
        "PLATFORM_DATABASE_URL": databases.control_plane,
        _ROUTER_ORIGIN: router,
        _ROUTER_TOKEN: secrets.control_plane_to_router,
        "PLATFORM_PUBLIC_AGENT_ORIGIN": console,
        "PLATFORM_CORS_ALLOWED_ORIGINS": console,
        "PLATFORM_ROUTER_ID": "router-1",
        "PLATFORM_ROUTER_DATABASE_URL": databases.router,
        _GATEWAY_ORIGIN: gateway,
        _CONTROL_PLANE_TOKEN: secrets.router_to_control_plane,
        "PLATFORM_ROUTER_AGENT_ORIGIN": router,
        _ISSUER: router,
        _KEY_ID: "router-1",
        _SIGNING_KEY: secrets.router_credential_key,
        API_BASE_URL: gateway,
        PUBLIC_AGENT_ORIGIN: console,
        DOOR_ORIGIN: origins["door"],
        DOOR_GATEWAY: gateway,
        **{kind.address: addresses.units[name].text for name, kind in UNITS.items()},
        **addresses.sockets,
    }


def _sockets(folder: Path, caller: Mapping[str, str]) -> Mapping[str, str]:
    """None for a unit whose origin the caller names, who wants requests to go there, and none where no path fits."""
    wanted = {ROUTER_SOCKET: ("router", _ROUTER_ORIGIN), CONTROL_PLANE_SOCKET: ("control-plane", _GATEWAY_ORIGIN)}
    paths = {setting: folder / f"{name}.sock" for setting, (name, origin) in wanted.items() if origin not in caller}
    return {name: f"unix:{path}" for name, path in paths.items() if len(os.fsencode(path)) <= MAX_PATH_BYTES}


def _allow_list(
    addresses: Addresses, allowed: Sequence[str], caller: Mapping[str, str], development: Sequence[int]
) -> list[str]:
    """A unit that listens on a development port stays out of it: the platform cannot be published as an Agent."""
    units = {one.port for one in addresses.units.values()}
    own = [address.text for address in addresses.agents]
    own += [f"{_LOOPBACK}:{port}" for port in development if port not in units]
    try:
        added = msgspec.json.decode(caller.get(ALLOW_LIST, "[]"), type=list[str])
    except msgspec.DecodeError:
        raise SettingsRefused([SettingProblem(ALLOW_LIST, "must be a JSON array of entries")]) from None
    return list(dict.fromkeys([*own, *added, *allowed]))


def _for_unit(supplied: Mapping[str, str], read: Callable[[Mapping[str, str]], object]) -> dict[str, str]:
    """The ordinary environment and the settings this unit reads: no unit sees a secret of another."""
    recording = _RecordingEnvironment()
    with suppress(SettingsRefused):
        read(recording)
    return {
        name: value
        for name, value in supplied.items()
        if name in recording.names or not (name.startswith("PLATFORM_") or name in _NOT_PASSED_ON)
    }


class _RecordingEnvironment(Mapping[str, str]):
    """An empty environment that remembers which settings were read."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _require_readable(environments: Mapping[str, Mapping[str, str]]) -> None:
    problems: dict[str, SettingProblem] = {}
    for name, environment in environments.items():
        try:
            UNITS[name].read(environment)
        except SettingsRefused as refused:
            problems |= {problem.name: problem for problem in refused.problems}
    if problems:
        raise SettingsRefused(list(problems.values()))


def _principals(principal: str, token: str) -> str:
    return _json([{"id": principal, "tokenSha256": hashlib.sha256(token.encode()).hexdigest()}])


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
