"""`aop login`, `logout` and `profiles`: the Gateways and access tokens of a user."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click

from aop.base.ids import is_safe_identifier
from aop.base.settings import Secret
from aop.cli.shell.asking import hidden_line
from aop.cli.shell.client_problems import as_problems
from aop.cli.shell.destination import (
    CONSOLE,
    GATEWAY,
    TOKEN,
    Destination,
    find_local,
    unit_address,
    visible_token,
)
from aop.cli.shell.hints import hinted
from aop.cli.shell.options import PATH
from aop.cli.shell.output import Output, table
from aop.cli.shell.platform import owned_workspaces
from aop.cli.shell.problems import CommandProblem, UsageProblem
from aop.cli.shell.profiles import DEFAULT_PROFILE, Profile, Profiles
from aop.contracts.errors import Reason
from aop.contracts.sign_in import TokenMaker

_LOCAL_GATEWAY = "http://127.0.0.1:8080"
_CODE_PAGE = "/sign-in-code"
_name = click.argument("name", metavar="[NAME]", required=False, help="The profile's name.")


@click.option("--gateway", metavar="URL", help=f"The Gateway; default: the profile's, {GATEWAY}, or this machine's.")
@click.option("--browser", is_flag=True, help="Get the token by a code that the Console shows.")
@click.option("--console", metavar="URL", help=f"The Console; default: the profile's, {CONSOLE}, or this machine's.")
@click.option("--door", metavar="URL", help="The door for A2A clients and MCP hosts; `aop connect` uses it.")
@click.option("--ca", metavar="FILE", type=PATH, help="Trust the certificate authorities of this PEM file; saved.")
@click.option("--profile", metavar="NAME", default=DEFAULT_PROFILE, help="The name of the profile.")
async def login(
    out: Output,
    gateway: str | None,
    browser: bool,
    console: str | None,
    door: str | None,
    ca: Path | None,
    profile: str,
) -> None:
    """The token comes from a prompt, from stdin or from AOP_TOKEN. It is never an argument.

    With --browser it is a session of at most 12 hours: sign in at the Console, which then shows a code, and give that
    code at the prompt. It works once, for ten minutes.

    The Gateway must accept the token. Then it is saved in a file that only you can read, and the profile is in use.
    A Gateway whose certificate is of your own authority needs --ca FILE. The profile remembers where the file is.

    Example: aop login --gateway https://agents.example.com
    Example: aop login --gateway https://agents.example.com --ca company-ca.pem
    Example: aop login --gateway https://agents.example.com --console https://console.example.com --browser
    Example: aop login --profile work < token.txt
    """
    if not is_safe_identifier(profile):
        raise UsageProblem("--profile is not a name: letters, digits and . _ : -, first a letter or digit")
    environment = os.environ  # noqa: TID251
    profiles = Profiles.of(environment)
    before = _before(gateway, profiles.config().profiles.get(profile), environment)
    address = before.gateway
    authorities = _saved_path(ca) or before.ca
    place = _console(console, before, environment)
    anonymous = Destination(address, Secret(""), "aop login", ca=Path(authorities) if authorities else None)
    if browser:
        token = await _redeemed(out, anonymous, place)
    else:
        token = visible_token(environment.get(TOKEN) or hidden_line(f"Access token for {address}: "))
    principal, workspaces = await _tried(out, replace(anonymous, token=token))
    workspace = before.workspace or (workspaces[0] if len(workspaces) == 1 else None)
    kept = Profile(address, workspace, unit_address(door, "a door") if door else before.door, place, authorities)
    profiles.keep(profile, kept, token)
    chosen = f", Workspace {workspace}" if workspace else f"; {len(workspaces)} own Workspaces, none chosen"
    members = {"workspace": workspace, "door": kept.door, "console": place, "principalId": principal}
    out.tell(
        {"profile": profile, "gateway": address} | members,
        f"logged in to {address} as {principal}, profile {profile}{chosen}",
    )


@_name
@click.option("--revoke", is_flag=True, help="Revoke the token, whatever it is; without an answer nothing is deleted.")
async def logout(out: Output, name: str | None, revoke: bool) -> None:
    """Without a name it deletes the profile in use. A session of `aop login --browser` is revoked as well.

    Any other token may be in use elsewhere: it stays valid until it expires or is revoked, here with --revoke.

    Example: aop logout work
    """
    profiles = Profiles.of(os.environ)  # noqa: TID251
    chosen = name or profiles.config().current
    if chosen is None or not profiles.knows(chosen):
        raise CommandProblem(
            "there is no such profile" if name else "no profile is in use", recovery="`aop profiles` lists them"
        )
    kept, token = profiles.config().profiles.get(chosen), profiles.token(chosen)
    revoked = kept is not None and token is not None and await _ended(out, kept, token, required=revoke)
    profiles.forget(chosen)
    current = profiles.config().current
    out.tell(
        {"forgotten": chosen, "current": current, "revoked": revoked},
        f"forgot {chosen}" + (" and revoked its token" if revoked else ""),
        *([f"now in use: {current}"] if current else []),
    )


@_name
def profiles(out: Output, name: str | None) -> None:
    """With a name, commands use that profile from now on.

    Example: aop profiles
    Example: aop profiles work
    """
    kept = Profiles.of(os.environ)  # noqa: TID251
    if name is not None:
        if name not in kept.config().profiles:
            raise UsageProblem(f"there is no profile {name!r}", "`aop profiles` lists them")
        kept.use(name)
    config = kept.config()
    items = [
        {"name": one, "current": one == config.current, "gateway": found.gateway, "workspace": found.workspace}
        for one, found in config.profiles.items()
    ]
    rows = [
        ("*" if item["current"] else "", *(str(item[m] or "") for m in ("name", "gateway", "workspace")))
        for item in items
    ]
    lines = table(["", "profile", "gateway", "workspace"], rows) if rows else ["no profiles; `aop login` makes one"]
    out.tell({"items": items}, *lines)


async def _tried(out: Output, found: Destination) -> tuple[str, list[str]]:
    """The caller's principal and own Workspaces, which only a valid token can read."""
    with as_problems(found), out.working("trying the token"):
        async with found.client() as client, hinted(client, found):
            principal = (await client.read_me()).principal_id
            return principal, [workspace.workspace_id async for workspace in owned_workspaces(client)]


def _before(gateway: str | None, saved: Profile | None, environment: Mapping[str, str]) -> Profile:
    """The profile as it was. What was saved for another Gateway is not used for this one."""
    named = gateway or (saved.gateway if saved else environment.get(GATEWAY, _LOCAL_GATEWAY))
    address = unit_address(named, "a Gateway")
    return saved if saved is not None and saved.gateway == address else Profile(address)


def _saved_path(ca: Path | None) -> str | None:
    """A later command may be called in another folder."""
    return None if ca is None else str(ca.absolute())


def _console(named: str | None, before: Profile, environment: Mapping[str, str]) -> str | None:
    """What is named now, was saved before, or runs on this machine with that Gateway."""
    text = named or environment.get(CONSOLE)
    if text is not None:
        return unit_address(text, "a Console")
    local = find_local(Path.cwd(), environment)
    beside = local.run.console if local is not None and local.run.gateway == before.gateway else None
    return before.console or beside


async def _redeemed(out: Output, found: Destination, console: str | None) -> Secret:
    """The code is read without an echo, and is worth nothing once it is redeemed."""
    if console is None:
        raise UsageProblem("say where the Console is with --console URL")
    out.note(f"open {console}{_CODE_PAGE}, sign in, and let it show a code")
    code = visible_token(hidden_line("Code: "), "a sign-in code")
    try:
        with as_problems(found), out.working("signing in"):
            async with found.client() as client, hinted(client, found):
                return Secret((await client.sign_in(code.reveal())).token)
    except CommandProblem as problem:
        if problem.reason is Reason.SIGN_IN_CODE:
            problem.recovery = f"let {console}{_CODE_PAGE} show a new code"
        raise


async def _ended(out: Output, kept: Profile, token: Secret, *, required: bool) -> bool:
    """Whether the token was revoked. Unless it must be, a Gateway that does not answer does not stop the logout."""
    found = Destination(kept.gateway, token, "aop logout", ca=Path(kept.ca) if kept.ca else None)
    try:
        with as_problems(found), out.working("revoking the token"):
            async with found.client() as client:
                own = [one async for one in client.list_my_tokens() if one.current]
                if not required and not any(one.made_by is TokenMaker.CODE for one in own):
                    return False
                await client.revoke_presented_token()
    except CommandProblem as problem:
        if required:
            raise
        out.note(f"the token was not revoked: {problem}")
        return False
    return True
