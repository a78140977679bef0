"""`aop token`: creates, lists and revokes access tokens, on the operator's database or one's own at the Gateway."""

from pathlib import Path

import click

from aop.cli.shell import options
from aop.cli.shell.loading import Entry
from aop.cli.shell.output import moment, table
from aop.cli.shell.platform import Platform, PlatformChoice
from aop.cli.shell.problems import UsageProblem
from aop.cli.shell.stores import control_plane_data
from aop.contracts.sign_in import AccessToken

_MAX_LABEL = 128
_ON_STORE = "shell.token_store"
"""Loaded only for an operator: a caller's machine needs no part that talks to a database."""
_CREATE = Entry("token create", f"{_ON_STORE}:create_on_store", "")
_LIST = Entry("token list", f"{_ON_STORE}:list_on_store", "")
_REVOKE = Entry("token revoke", f"{_ON_STORE}:revoke_on_store", "")
_HEADINGS = ["", "token id", "made by", "label", "created", "expires", "last used"]
_mine = click.option("--mine", is_flag=True, help="Your own, at the Gateway, with the token in use.")


class StoreOrGateway(PlatformChoice):
    shared = (options.profile, control_plane_data, options.ca, *options.OUTPUT)

    def store(self) -> Path | None:
        """The data folder of the database, if one is named."""
        if self.profile is not None:
            raise UsageProblem("without --mine it works on the database, which no profile names", "leave out --profile")
        return self.folder


@_mine
@click.option("--principal", help="The principal that the token identifies; not with --mine.")
@click.option("--label", default="", show_default=False, help="A note to recognise the token by.")
@click.option("--days", type=click.IntRange(min=1, max=3650), help="Lifetime; default PLATFORM_ACCESS_TOKEN_DAYS, 90.")
async def create(chosen: StoreOrGateway, mine: bool, principal: str | None, label: str, days: int | None) -> None:
    """The token is printed once, as the last line. Only a hash of it is stored.

    With --mine it is an additional token of your own. It needs a --label and ends with the token in use. Without,
    it is made on the database. If the Control Plane accepts tokens of an OpenID provider, set its
    PLATFORM_OIDC_PRINCIPAL_PREFIX for this command too: principals with this prefix belong to the provider.

    Example: aop token create --principal alice --label laptop
    Example: aop token create --mine --label build-server --days 7
    """
    if len(label) > _MAX_LABEL:
        raise UsageProblem(f"--label has more than {_MAX_LABEL} characters")
    if mine:
        if principal is not None or not label.strip():
            raise UsageProblem("--mine needs a --label, and no --principal: the token is yours")
        await chosen.at_gateway(lambda platform: _create_own(platform, label, days))
        return
    if principal is None:
        raise UsageProblem("say whose with --principal ID, or --mine")
    await _CREATE.function()(chosen.out, principal, label, days, chosen.store())


@_mine
async def list_tokens(chosen: StoreOrGateway, mine: bool) -> None:
    """Tokens made by `code` are sessions: somebody signed in. With --mine a star marks the token in use.

    Example: aop token list
    Example: aop token list --mine
    """
    if mine:
        await chosen.at_gateway(_list_own)
    else:
        await _LIST.function()(chosen.out, chosen.store())


@click.argument("token_id", help="The tok_… id shown by `aop token list`.")
@_mine
async def revoke(chosen: StoreOrGateway, token_id: str, mine: bool) -> None:
    """Everything that was made with the token ends as well: additional tokens, sessions and open sign-in codes.

    Example: aop token revoke tok_0192f0c0c0de7000a000000000000001
    """
    if mine:
        await chosen.at_gateway(lambda platform: _revoke_own(platform, token_id))
    else:
        await _REVOKE.function()(chosen.out, token_id, chosen.store())


async def _create_own(platform: Platform, label: str, days: int | None) -> None:
    made = await platform.client.create_my_token(label, days=days)
    platform.out.note(f"{made.token_id}, until {made.expires_at}")
    platform.out.tell(made, made.token)


async def _list_own(platform: Platform) -> None:
    found = [token async for token in platform.client.list_my_tokens()]
    platform.out.tell({"items": found}, *table(_HEADINGS, [_row(token) for token in found]))


async def _revoke_own(platform: Platform, token_id: str) -> None:
    revoked = await platform.client.revoke_my_token(token_id)
    platform.out.tell(revoked, f"revoked {revoked.token_id}, and all that was made with it")


def _row(token: AccessToken) -> list[str]:
    used = moment(token.last_used_at) if isinstance(token.last_used_at, str) else ""
    times = [moment(token.created_at), moment(token.expires_at), used]
    return ["*" if token.current else "", token.token_id, token.made_by.value, token.label, *times]
