"""What an operator does with access tokens and sign-in codes: on the database, with the Control Plane's login."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aop.base.clock import to_text
from aop.base.ids import is_safe_identifier
from aop.base.settings import integer
from aop.cli.shell.output import Output, table
from aop.cli.shell.problems import CommandProblem
from aop.cli.shell.store_session import store_problems, store_session
from aop.cli.shell.stores import control_plane_database, read_setting
from aop.contracts.sign_in import SignInCode
from aop.control_plane.gateway.sign_in import make_operators_code
from aop.control_plane.gateway.tokens import DEFAULT_DAYS, TokenRecord, Tokens
from aop.control_plane.settings import OIDC_PRINCIPAL_PREFIX, principal_prefix
from aop.store.store_check import require_version

_HEADINGS = ["token id", "principal", "made by", "label", "created", "expires", "revoked", "last used"]


async def create_on_store(out: Output, principal: str, label: str, days: int | None, data: Path | None) -> None:
    if not is_safe_identifier(principal):
        raise CommandProblem(
            "--principal must be 1 to 128 letters, digits, '.', '_', ':' or '-', starting with a letter or digit"
        )
    _require_free(principal, "--principal")
    lifetime = days or read_setting(
        lambda reader: reader.optional("PLATFORM_ACCESS_TOKEN_DAYS", integer(1, 3650), DEFAULT_DAYS)
    )
    async with _tokens(data) as tokens:
        issued = await tokens.issue(principal, label, lifetime)
    out.note(f"{issued.record.token_id} for {principal}, until {to_text(issued.record.expires_at)}")
    out.tell(_document(issued.record) | {"token": issued.token.reveal()}, issued.token.reveal())


async def list_on_store(out: Output, data: Path | None) -> None:
    async with _tokens(data) as tokens:
        records = await tokens.all()
    out.tell({"items": [_document(record) for record in records]}, *table(_HEADINGS, [_row(one) for one in records]))


async def revoke_on_store(out: Output, token_id: str, data: Path | None) -> None:
    async with _tokens(data) as tokens:
        if not await tokens.revoke(token_id):
            raise CommandProblem("no token has this id")
    out.tell({"tokenId": token_id, "revoked": True}, f"revoked {token_id}, and all that was made with it")


async def make_code_on_store(database_url: str, principal: str) -> SignInCode:
    """A token made in its session may outlive the session: who has the database's login may make such a token too."""
    _require_free(principal, "the principal")
    with store_problems():
        made = await make_operators_code(database_url, principal)
    return SignInCode(code=made.code.reveal(), expires_at=to_text(made.expires_at))


def _row(record: TokenRecord) -> list[str]:
    times = (record.created_at, record.expires_at, record.revoked_at, record.last_used_at)
    said = [record.token_id, record.principal_id, record.made_by.value, record.label]
    return [*said, *("" if time is None else to_text(time) for time in times)]


def _document(record: TokenRecord) -> dict[str, str]:
    members = {"tokenId": record.token_id, "principalId": record.principal_id, "label": record.label}
    optional = {
        "createdAt": to_text(record.created_at),
        "expiresAt": to_text(record.expires_at),
        "madeBy": record.made_by.value,
        "origin": record.origin.value,
        "endsWith": record.ends_with,
        "revokedAt": None if record.revoked_at is None else to_text(record.revoked_at),
        "lastUsedAt": None if record.last_used_at is None else to_text(record.last_used_at),
    }
    return members | {name: value for name, value in optional.items() if value is not None}


def _require_free(principal: str, what: str) -> None:
    reserved = read_setting(lambda reader: reader.optional(OIDC_PRINCIPAL_PREFIX, principal_prefix, None))
    if reserved is not None and principal.startswith(reserved):
        raise CommandProblem(f"{what} begins with {OIDC_PRINCIPAL_PREFIX}: such principals are the OpenID provider's")


@asynccontextmanager
async def _tokens(data: Path | None) -> AsyncIterator[Tokens]:
    async with store_session(control_plane_database(data), "aop token") as connection:
        await require_version(connection, "gateway")
        yield Tokens(connection)
