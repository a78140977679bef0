"""`aop migrate`: brings the store to the current version."""

import asyncio
import os

import typer

from aop.base import migrations
from aop.base.database import StoreUnavailable
from aop.base.settings import SettingsReader, SettingsRefused, database_url

_SETTING = "PLATFORM_MIGRATION_DATABASE_URL"


def migrate() -> None:
    """Bring the store to the current version. Repeating it changes nothing; there is no way down.

    The login of PLATFORM_MIGRATION_DATABASE_URL must be, or be able to become, a member of the role aop_owner.
    """
    try:
        reader = SettingsReader(os.environ)  # noqa: TID251
        url = reader.required(_SETTING, database_url)
        reader.conclude()
        report = asyncio.run(migrations.migrate(url.reveal()))
    except SettingsRefused as refused:
        raise _stop(f"{_SETTING} {refused.problems[0].reason}", 78) from None
    except migrations.MigrationRefused as refused:
        raise _stop(str(refused), 1) from None
    except StoreUnavailable as failure:
        raise _stop(f"{_SETTING}: the database cannot be reached or refused a statement ({failure})", 1) from None
    for migration in report.applied:
        typer.echo(f"applied {migration}")
    if not report.applied:
        typer.echo("already at the current version")


def _stop(text: str, code: int) -> typer.Exit:
    typer.echo(f"aop migrate: {text}", err=True)
    return typer.Exit(code)
