"""`aop token`: creates, lists and revokes access tokens of the Gateway."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import click

from aop.base.clock import to_text
from aop.base.ids import is_safe_identifier
from aop.base.settings import Parse, SettingsReader, SettingsRefused, integer
from aop.cli.output import Output, table
from aop.cli.problems import EXIT_CONFIGURATION, CommandProblem
from aop.cli.stores import control_plane_data, control_plane_database
from aop.control_plane.gateway.tokens import DEFAULT_DAYS, TokenRecord, Tokens
from aop.control_plane.settings import OIDC_PRINCIPAL_PREFIX, principal_prefix
from aop.store.database import connect
from aop.store.problems import StoreUnavailable

T = TypeVar("T")
_HEADINGS = ["token id", "principal", "label", "created", "expires", "revoked", "last used"]


@click.option("--principal", required=True, help="The principal that the token identifies.")
@click.option("--label", default="", show_default=False, help="A note to recognise the token by.")
@click.option("--days", type=click.IntRange(min=1, max=3650), help="Lifetime; default 90 days.")
@control_plane_data
def create(out: Output, principal: str, label: str, days: int | None, data: Path | None) -> None:
    """The token is printed once, as the last line. Only a hash of it is stored.

    If the Control Plane accepts tokens of an OpenID provider, set its PLATFORM_OIDC_PRINCIPAL_PREFIX for this command
    too: principals with this prefix belong to the provider.

    Example: aop token create --principal alice --label laptop
    """
    if not is_safe_identifier(principal):
        raise CommandProblem(
            "--principal must be 1 to 128 letters, digits, '.', '_', ':' or '-', starting with a letter or digit"
        )
    reserved = _setting(OIDC_PRINCIPAL_PREFIX, principal_prefix, None)
    if reserved is not None and principal.startswith(reserved):
        raise CommandProblem(
            f"--principal begins with {OIDC_PRINCIPAL_PREFIX}: such principals are the OpenID provider's"
        )
    lifetime = days or _setting("PLATFORM_ACCESS_TOKEN_DAYS", integer(1, 3650), DEFAULT_DAYS)
    issued = _on_store(data, lambda tokens: tokens.issue(principal, label, lifetime))
    out.note(f"{issued.record.token_id} for {principal}, until {to_text(issued.record.expires_at)}")
    out.tell(_document(issued.record) | {"token": issued.token.reveal()}, issued.token.reveal())


@control_plane_data
def list_tokens(out: Output, data: Path | None) -> None:
    """Example: aop token list"""
    records = _on_store(data, lambda tokens: tokens.all())
    out.tell({"items": [_document(record) for record in records]}, *table(_HEADINGS, [_row(one) for one in records]))


@click.argument("token_id", help="The tok_… id shown by `aop token list`.")
@control_plane_data
def revoke(out: Output, token_id: str, data: Path | None) -> None:
    """Example: aop token revoke tok_0192f0c0c0de7000a000000000000001"""
    if not _on_store(data, lambda tokens: tokens.revoke(token_id)):
        raise CommandProblem("no token has this id")
    out.tell({"tokenId": token_id, "revoked": True}, f"revoked {token_id}")


def _row(record: TokenRecord) -> list[str]:
    times = (record.created_at, record.expires_at, record.revoked_at, record.last_used_at)
    return [record.token_id, record.principal_id, record.label, *("" if t is None else to_text(t) for t in times)]


def _document(record: TokenRecord) -> dict[str, str]:
    members = {"tokenId": record.token_id, "principalId": record.principal_id, "label": record.label}
    times = {
        "createdAt": record.created_at,
        "expiresAt": record.expires_at,
        "revokedAt": record.revoked_at,
        "lastUsedAt": record.last_used_at,
    }
    return members | {name: to_text(moment) for name, moment in times.items() if moment is not None}


def _on_store(data: Path | None, act: Callable[[Tokens], Awaitable[T]]) -> T:
    async def run(url: str) -> T:
        connection = await connect(url, application="aop token")
        try:
            return await act(Tokens(connection))
        finally:
            await connection.close()

    try:
        return asyncio.run(run(control_plane_database(data)))
    except StoreUnavailable as failure:
        raise CommandProblem(f"the database cannot be reached or refused ({failure})") from None


def _setting(name: str, parse: Parse[T], default: T) -> T:
    reader = SettingsReader(os.environ)  # noqa: TID251
    value = reader.optional(name, parse, default)
    try:
        reader.conclude()
    except SettingsRefused as refused:
        raise CommandProblem(f"{name} {refused.problems[0].reason}", exit_code=EXIT_CONFIGURATION) from None
    return value
