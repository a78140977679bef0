"""The profiles of a user: which Gateway, which Workspace, and, in a file of their own, the access tokens."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from aop.base import json as strict_json
from aop.base.settings import Secret
from aop.cli.shell.problems import CommandProblem, file_problems
from aop.local.state import DataFolder

DEFAULT_PROFILE = "default"
_CONFIG, _TOKENS = "config.json", "tokens.json"
_OTHERS = 0o077

T = TypeVar("T")


class Profile(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    gateway: str
    workspace: str | None = None
    door: str | None = None
    console: str | None = None
    ca: str | None = None
    """The file of the certificate authorities that its Gateway is checked against."""


class Config(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, rename="camel"):
    current: str | None = None
    profiles: dict[str, Profile] = {}
    local_workspaces: dict[str, str] = {}
    """The Workspace chosen for a local platform, by its data folder."""


@dataclass(frozen=True)
class Profiles:
    """Both files in one private folder; written whole or not at all."""

    folder: Path

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "Profiles":
        place = environment.get("XDG_CONFIG_HOME", "")
        home = Path(place) if Path(place).is_absolute() else Path(environment.get("HOME") or Path.home()) / ".config"
        return cls(home / "aop")

    def config(self) -> Config:
        return self._read(_CONFIG, Config) or Config()

    def token(self, profile: str) -> Secret | None:
        text = self._tokens().get(profile)
        return None if text is None else Secret(text)

    def keep(self, name: str, profile: Profile, token: Secret) -> None:
        """Makes it the current one."""
        config = self.config()
        self._write(_TOKENS, self._tokens() | {name: token.reveal()})
        profiles = config.profiles | {name: profile}
        self._write(_CONFIG, msgspec.structs.replace(config, current=name, profiles=profiles))

    def knows(self, name: str) -> bool:
        return name in self.config().profiles or name in self._tokens()

    def forget(self, name: str) -> None:
        config, tokens = self.config(), self._tokens()
        tokens.pop(name, None)
        self._write(_TOKENS, tokens)
        left = {other: profile for other, profile in config.profiles.items() if other != name}
        current = config.current if config.current != name else next(iter(left), None)
        self._write(_CONFIG, msgspec.structs.replace(config, current=current, profiles=left))

    def use(self, name: str) -> None:
        self._write(_CONFIG, msgspec.structs.replace(self.config(), current=name))

    def choose_workspace(self, name: str, workspace_id: str) -> None:
        config = self.config()
        chosen = msgspec.structs.replace(config.profiles[name], workspace=workspace_id)
        self._write(_CONFIG, msgspec.structs.replace(config, profiles=config.profiles | {name: chosen}))

    def choose_local_workspace(self, folder: Path, workspace_id: str) -> None:
        config = self.config()
        chosen = config.local_workspaces | {str(folder): workspace_id}
        self._write(_CONFIG, msgspec.structs.replace(config, local_workspaces=chosen))

    def _tokens(self) -> dict[str, str]:
        path = self.folder / _TOKENS
        if path.exists() and path.stat().st_mode & _OTHERS:
            raise CommandProblem(
                f"{path} can be read by others, so its tokens are not used",
                recovery=f"chmod 600 {path}; if somebody may have read it, revoke the tokens and log in again",
            )
        return self._read(_TOKENS, dict[str, str]) or {}

    def _read(self, name: str, kind: type[T]) -> T | None:
        path = self.folder / name
        try:
            with file_problems(path, "read"), suppress(FileNotFoundError):
                return strict_json.decode(path.read_bytes(), kind)
            return None
        except msgspec.DecodeError:
            # What is wrong is not repeated: one of the two files holds tokens.
            raise CommandProblem(f"{path} is damaged", recovery="delete it and log in again") from None

    def _write(self, name: str, value: object) -> None:
        with file_problems(self.folder / name, "written"):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            DataFolder(self.folder).write(name, msgspec.json.format(msgspec.json.encode(value)) + b"\n")
