"""`aop login`, `logout` and `profiles`: the Gateways and access tokens of a user."""

import os

import click

from aop.base.ids import is_safe_identifier
from aop.base.settings import Secret
from aop.cli.asking import hidden_line
from aop.cli.destination import GATEWAY, TOKEN, Destination, door_address, gateway_address, visible_token
from aop.cli.output import Output, table
from aop.cli.platform import as_problems, owned_workspaces
from aop.cli.problems import CommandProblem, UsageProblem
from aop.cli.profiles import DEFAULT_PROFILE, Profile, Profiles
from aop.client import Client

_LOCAL_GATEWAY = "http://127.0.0.1:8080"
_name = click.argument("name", metavar="[NAME]", required=False, help="The profile's name.")


@click.option("--gateway", metavar="URL", help=f"The Gateway; default: the profile's, {GATEWAY}, or this machine's.")
@click.option("--door", metavar="URL", help="The door for A2A clients and MCP hosts; `aop connect` uses it.")
@click.option("--profile", metavar="NAME", default=DEFAULT_PROFILE, help="The name of the profile.")
async def login(out: Output, gateway: str | None, door: str | None, profile: str) -> None:
    """The token comes from a prompt, from stdin or from AOP_TOKEN. It is never an argument.

    The Gateway must accept the token. Then it is saved in a file that only you can read, and the profile is in use.

    Example: aop login --gateway https://agents.example.com
    Example: aop login --profile work < token.txt
    """
    if not is_safe_identifier(profile):
        raise UsageProblem("--profile is not a name: letters, digits and . _ : -, first a letter or digit")
    environment = os.environ  # noqa: TID251
    profiles = Profiles.of(environment)
    known = profiles.config().profiles.get(profile)
    address = gateway_address(gateway or (known.gateway if known else environment.get(GATEWAY, _LOCAL_GATEWAY)))
    token = visible_token(environment.get(TOKEN) or hidden_line(f"Access token for {address}: "))
    workspaces = await _tried(out, address, token)
    # What was kept of another Gateway is nothing of this one.
    before = known if known is not None and known.gateway == address else Profile(address)
    workspace = before.workspace or (workspaces[0] if len(workspaces) == 1 else None)
    kept = Profile(address, workspace, door_address(door) if door else before.door)
    profiles.keep(profile, kept, token)
    out.tell(
        {"profile": profile, "gateway": address, "workspace": kept.workspace, "door": kept.door},
        f"logged in to {address} as profile {profile}"
        + (f", Workspace {kept.workspace}" if kept.workspace else f"; {len(workspaces)} own Workspaces, none chosen"),
    )


@_name
def logout(out: Output, name: str | None) -> None:
    """Without a name it deletes the profile in use. The token stays valid until it expires or is revoked.

    Example: aop logout work
    """
    profiles = Profiles.of(os.environ)  # noqa: TID251
    chosen = name or profiles.config().current
    if chosen is None or not profiles.forget(chosen):
        raise CommandProblem(
            "there is no such profile" if name else "no profile is in use", recovery="`aop profiles` lists them"
        )
    current = profiles.config().current
    out.tell(
        {"forgotten": chosen, "current": current}, f"forgot {chosen}" + (f"; now in use: {current}" if current else "")
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


async def _tried(out: Output, address: str, token: Secret) -> list[str]:
    """The caller's own Workspaces, which only a valid token can list."""
    with as_problems(Destination(address, token, "aop login")), out.working("trying the token"):
        async with Client(address, token) as client:
            return [workspace.workspace_id async for workspace in owned_workspaces(client)]
