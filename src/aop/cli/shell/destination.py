"""Which platform a command works with: named by an option, a profile or the environment, or running nearby."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

from aop.base import assets
from aop.base.settings import Secret
from aop.cli.shell.problems import CommandProblem
from aop.cli.shell.profiles import Profiles
from aop.client import Client
from aop.local.problems import NotRunning
from aop.local.state import DEFAULT_FOLDER, Run, load_run
from aop.net.origin import Endpoint, InvalidEndpoint

GATEWAY, TOKEN, PROFILE, WORKSPACE = "AOP_GATEWAY", "AOP_TOKEN", "AOP_PROFILE", "AOP_WORKSPACE"
DATA, DOOR, CONSOLE = "AOP_DATA", "AOP_DOOR", "AOP_CONSOLE"


@dataclass(frozen=True)
class LocalPlatform:
    folder: Path
    run: Run


@dataclass(frozen=True)
class Destination:
    gateway: str
    token: Secret
    source: str
    """Where these come from, in words."""
    profile: str | None = None
    local: LocalPlatform | None = None
    workspace: str | None = None
    door: str | None = None
    console: str | None = None
    ca: Path | None = None
    """The file of certificate authorities to trust; without one, what the client trusts by itself."""

    def client(self) -> Client:
        return Client(self.gateway, self.token, ca=self.ca)


@dataclass(frozen=True)
class PlatformOptions:
    """What the command line says about the platform to use."""

    profile: str | None
    data: Path | None
    ca: Path | None

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        return cls(values["profile"], values["data"], values["ca"])


def find_destination(options: PlatformOptions, environment: Mapping[str, str], profiles: Profiles) -> Destination:
    """The token of the environment overrides a saved one. It is never an argument."""
    found = _found(options, environment, profiles)
    return found if options.ca is None else replace(found, ca=options.ca.absolute())


def _found(options: PlatformOptions, environment: Mapping[str, str], profiles: Profiles) -> Destination:
    if options.data is not None:
        return _with_environment(_local(_running_on(options.data), profiles), environment)
    named = options.profile or environment.get(PROFILE)
    gateway = environment.get(GATEWAY)
    if named is None and gateway is not None:
        return _from_environment(gateway, environment)
    current = named or profiles.config().current
    if current is not None:
        return _with_environment(_kept(current, environment, profiles), environment)
    found = find_local(Path.cwd(), environment)
    if found is None:
        raise CommandProblem(
            "there is no profile, and no local platform runs nearby",
            code="not_configured",
            recovery="start one with `aop up`, or keep the address and token of another with `aop login --gateway URL`",
        )
    return _with_environment(_local(found, profiles), environment)


def unit_address(text: str, what: Literal["a Gateway", "a door", "a Console"]) -> str:
    try:
        return Endpoint.parse(text).canonical.rstrip("/")
    except InvalidEndpoint as problem:
        raise CommandProblem(f"this is not the address of {what}: {problem}", code="usage", exit_code=2) from None


def visible_token(text: str, what: str = "an access token") -> Secret:
    """A token or a code is one word of visible ASCII. The error does not repeat it."""
    token = text.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise CommandProblem(f"this is not {what}: it must be one word of visible ASCII characters")
    return Secret(token)


def _running_on(folder: Path) -> LocalPlatform:
    try:
        return LocalPlatform(folder.absolute(), load_run(folder))
    except NotRunning as problem:
        raise CommandProblem(str(problem), code="not_running") from None


def _local(local: LocalPlatform, profiles: Profiles) -> Destination:
    run = local.run
    workspace = profiles.config().local_workspaces.get(str(local.folder.absolute())) or run.workspace_id
    source = f"the local platform on {local.folder}"
    found = Destination(run.gateway, Secret(run.token), source, local=local, workspace=workspace)
    return replace(found, door=run.door, console=run.console)


def _kept(name: str, environment: Mapping[str, str], profiles: Profiles) -> Destination:
    profile = profiles.config().profiles.get(name)
    if profile is None:
        raise CommandProblem(
            f"there is no profile {name!r}", code="usage", recovery="`aop profiles` lists them", exit_code=2
        )
    token = profiles.token(name) if TOKEN not in environment else Secret("")
    if token is None:
        raise CommandProblem(
            f"the profile {name!r} has no token", recovery=f"aop login --profile {name}, or set {TOKEN}"
        )
    source = f"profile {name}"
    found = Destination(profile.gateway, token, source, profile=name, workspace=profile.workspace)
    return replace(found, door=profile.door, console=profile.console, ca=Path(profile.ca) if profile.ca else None)


def _from_environment(gateway: str, environment: Mapping[str, str]) -> Destination:
    if TOKEN not in environment:
        raise CommandProblem(
            f"{GATEWAY} is set, but {TOKEN} is not", recovery=f"set {TOKEN} as well, or unset {GATEWAY}"
        )
    return _with_environment(Destination(unit_address(gateway, "a Gateway"), Secret(""), GATEWAY), environment)


def _with_environment(found: Destination, environment: Mapping[str, str]) -> Destination:
    token = visible_token(environment[TOKEN]) if TOKEN in environment else found.token
    workspace = environment.get(WORKSPACE, found.workspace)
    door = unit_address(environment[DOOR], "a door") if DOOR in environment else found.door
    console = unit_address(environment[CONSOLE], "a Console") if CONSOLE in environment else found.console
    return replace(found, token=token, workspace=workspace, door=door, console=console)


def find_local(start: Path, environment: Mapping[str, str]) -> LocalPlatform | None:
    """On the data folder that AOP_DATA names, else on the nearest `.aop` here or above, or the checkout's."""
    named = environment.get(DATA)
    for folder in _candidates(start) if named is None else (Path(named),):
        try:
            return LocalPlatform(folder, load_run(folder))
        except NotRunning:
            continue
    return None


def _candidates(start: Path) -> Iterator[Path]:
    here = start.absolute()
    checkout = assets.folder("agents").parent
    for folder in (here, *here.parents, checkout):
        data = folder / DEFAULT_FOLDER
        # A folder that somebody else put on the way up is not ours to trust.
        with suppress(OSError):
            if data.stat().st_uid == os.getuid():
                yield data
