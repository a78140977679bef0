"""`aop open`: a fresh sign-in link of the Console."""

import os
import webbrowser

import click

from aop.cli.shell.client_problems import as_problems
from aop.cli.shell.destination import CONSOLE, TOKEN, Destination, LocalPlatform
from aop.cli.shell.loading import Entry
from aop.cli.shell.platform import PlatformChoice
from aop.cli.shell.problems import CommandProblem
from aop.contracts.sign_in import SignInCode
from aop.local.console_link import sign_in_link

_ON_STORE = Entry("open", "shell.token_store:make_code_on_store", "")
"""Loaded only where the platform itself runs: elsewhere there is no database to make a code in."""


@click.option("--browser", is_flag=True, help="Open the link in a browser instead of printing it.")
async def open_console(chosen: PlatformChoice, browser: bool) -> None:
    """The link signs in once, within ten minutes, and contains no token. Whoever has it can use it: do not share it.

    For a local platform the code is made in its database. A token that you make in such a session lives up to
    PLATFORM_ACCESS_TOKEN_DAYS. With a profile the Gateway makes the code, and the session ends with that token.

    Example: aop open
    Example: aop open --profile work --browser
    """
    out, found = chosen.out, chosen.destination()
    if found.console is None:
        raise CommandProblem(
            "no Console is known here",
            recovery="start `aop up` with it" if found.local else f"aop login --console URL, or set {CONSOLE}",
        )
    local = None if TOKEN in os.environ else found.local  # noqa: TID251
    made = await (_own_code(found) if local is None else _local_code(local))
    link = sign_in_link(found.console, made.code)
    if browser:
        if not webbrowser.open(link):
            raise CommandProblem("there is no browser to open", recovery="leave out --browser")
        out.tell({"console": found.console, "expiresAt": made.expires_at}, f"opened {found.console}")
        return
    out.note("this link signs in once, within ten minutes")
    out.tell({"console": found.console, "link": link, "expiresAt": made.expires_at}, link)


async def _local_code(local: LocalPlatform) -> SignInCode:
    made: SignInCode = await _ON_STORE.function()(local.run.database_urls.control_plane, local.run.principal)
    return made


async def _own_code(found: Destination) -> SignInCode:
    with as_problems(found):
        async with found.client() as client:
            return await client.create_sign_in_code()
