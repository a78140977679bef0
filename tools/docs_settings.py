"""Writes the page of settings by letting each unit's own reader read, and noting what it asks for."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from aop.agent.guard.settings import AgentSettings
from aop.base import settings as read
from aop.base.settings import Secret
from aop.console.settings import read_console_settings
from aop.control_plane.settings import read_control_plane_settings
from aop.door.settings import read_door_settings
from aop.net import address_settings as addresses
from aop.net.policy import AllowList
from aop.router.settings import read_router_settings
from tools.docs_setting_meanings import MEANINGS
from tools.docs_shapes import code, prose, table

# Read only when one of them is set; naming them makes their reader ask for them.
_OIDC = {f"PLATFORM_OIDC_{name}": "" for name in ("ISSUER", "AUDIENCE", "JWKS_URL", "PRINCIPAL_PREFIX")}
_CONSOLE_OIDC = {f"VITE_PLATFORM_OIDC_{name}": "" for name in ("ISSUER", "CLIENT_ID")}
_TOGETHER = {**dict.fromkeys(_OIDC, "all four or none"), **dict.fromkeys(_CONSOLE_OIDC, "both or none")}
# Texts that no setting takes all of: what a reader says about them is its rule.
_PROBES = ("999999999999", "\x7f", "a b")
_HEAD = """# Settings

Look up every setting of the [units](../glossary.md#unit), the programs of the platform: what it means, which values it
takes, and its default. `aop up` sets everything that is required; you need this page to run units yourself. It is
generated from the code that reads the settings.

A unit reads its settings from the environment only. If you do not set one, it has its default. If a value is empty, has
spaces around it, is out of range or cannot be read, the unit does not start: it names all wrong settings at once, never
their values, and exits with code 78.

Integers are plain digits. An origin is exact: http or https, host and port, without a path or a trailing slash.
A time is in milliseconds, seconds or days, as the end of the name says: `_MS`, `_SECONDS`, `_DAYS`. Sizes are in
bytes.
"""
_TELEMETRY = "OTEL_"
_ORIGIN = "an exact http or https origin, without path or trailing slash"
_MIGRATION = "PLATFORM_MIGRATION_DATABASE_URL"


@dataclass(frozen=True)
class Setting:
    name: str
    rule: str
    default: str

    @property
    def row(self) -> tuple[str, str, str, str]:
        return code(self.name), prose(MEANINGS[self.name]), prose(self.rule), self.default


class Notes(read.SettingsReader):
    """Refuses nothing and notes every setting it is asked for."""

    noted: list[Setting]

    def required(self, name: str, parse: read.Parse[Any]) -> Any:
        self.noted.append(Setting(name, _rule(parse), _TOGETHER.get(name, "required")))

    def optional(self, name: str, parse: read.Parse[Any], default: Any) -> Any:
        self.noted.append(Setting(name, _rule(parse), _default(parse, default)))
        return default

    def refuse(self, name: str, reason: str) -> None:
        pass


def settings_page() -> str:
    control_plane = asked_for(lambda: read_control_plane_settings(_OIDC))
    router = asked_for(lambda: read_router_settings({}))
    both = [setting for setting in control_plane if setting in router]
    groups = {
        "Control Plane and Router": [setting for setting in both if not setting.name.startswith(_TELEMETRY)],
        "Control Plane": [setting for setting in control_plane if setting not in both],
        "Router": [setting for setting in router if setting not in both],
        "Console": [
            setting for setting in asked_for(lambda: read_console_settings(_CONSOLE_OIDC)) if setting not in both
        ],
        "Door": [setting for setting in asked_for(lambda: read_door_settings({})) if setting not in both],
        "Telemetry": [setting for setting in both if setting.name.startswith(_TELEMETRY)],
        "Agents": asked_for(lambda: AgentSettings.from_environment({})),
        "Commands": [Setting(_MIGRATION, _rule(read.database_url), "required by `aop migrate`")],
    }
    lines = [_HEAD]
    for title, settings in groups.items():
        lines += [f"## {title}", *table(("Setting", "Meaning", "Rule", "Default"), (one.row for one in settings))]
    return "\n".join(lines).replace("\n\n\n", "\n\n").strip("\n") + "\n"


def setting_names() -> frozenset[str]:
    """Every setting that anything of the platform reads."""
    readers: tuple[Callable[[], object], ...] = (
        lambda: read_control_plane_settings(_OIDC),
        lambda: read_router_settings({}),
        lambda: read_console_settings(_CONSOLE_OIDC),
        lambda: read_door_settings({}),
        lambda: AgentSettings.from_environment({}),
    )
    return frozenset(setting.name for reader in readers for setting in asked_for(reader)) | {_MIGRATION}


def asked_for(reader: Callable[[], object]) -> list[Setting]:
    with _noting() as noted:
        reader()
    return list(dict.fromkeys(noted))


@contextmanager
def _noting() -> Iterator[list[Setting]]:
    """While it lasts, what the readers build is `Notes`; they make their own, from a mapping."""
    usual, noted = read.SettingsReader, list[Setting]()
    noting = type("Noting", (Notes,), {"noted": noted})
    read.SettingsReader = noting  # type: ignore[assignment, misc]  # and given back below
    try:
        yield noted
    finally:
        read.SettingsReader = usual  # type: ignore[misc]  # as above


def _rule(parse: read.Parse[Any]) -> str:
    for probe in _PROBES:
        try:
            parse(probe)
        except ValueError as problem:
            said = str(problem).removeprefix("must be ")
            return "an origin" if said == _ORIGIN else said
    return "text"


def _default(parse: read.Parse[Any], default: Any) -> str:
    if isinstance(default, Secret):
        default = default.reveal()
    if default in (None, "", (), {}):
        return "none"
    if isinstance(default, addresses.ListenAddress):
        return code(f"{default.host}:{default.port}")
    if isinstance(default, AllowList):
        return code("[]")
    # A time is kept in seconds and set in milliseconds: the text that reads as the default is the one to show.
    texts = [str(default)] if not isinstance(default, float) else [str(int(default * 1000)), str(default)]
    return code(next(text for text in texts if parse(text) == default))
