"""`aop migrate`: migrates the database to the current version."""

import asyncio
import os

from aop.base.settings import SettingsReader, SettingsRefused, database_url
from aop.cli.shell.output import Output
from aop.cli.shell.problems import EXIT_CONFIGURATION, CommandProblem
from aop.store import migrations
from aop.store.problems import StoreUnavailable

_SETTING = "PLATFORM_MIGRATION_DATABASE_URL"


def migrate(out: Output) -> None:
    """Repeating it changes nothing. There is no downgrade.

    The login of PLATFORM_MIGRATION_DATABASE_URL must be, or be able to become, a member of the role aop_owner.

    Example: aop migrate
    """
    try:
        reader = SettingsReader(os.environ)  # noqa: TID251
        url = reader.required(_SETTING, database_url)
        reader.conclude()
        with out.working("migrating"):
            report = asyncio.run(migrations.migrate(url.reveal()))
    except SettingsRefused as refused:
        raise CommandProblem(f"{_SETTING} {refused.problems[0].reason}", exit_code=EXIT_CONFIGURATION) from None
    except migrations.MigrationRefused as refused:
        raise CommandProblem(str(refused)) from None
    except StoreUnavailable as failure:
        raise CommandProblem(f"{_SETTING}: the database cannot be reached or refused a statement ({failure})") from None
    applied = [str(migration) for migration in report.applied]
    lines = [f"applied {name}" for name in applied] or ["already at the current version"]
    out.tell({"applied": applied}, *lines)
