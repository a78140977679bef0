"""`aop migrate`: migrates the database to the current version."""

from aop.base.settings import database_url
from aop.cli.shell.output import Output
from aop.cli.shell.problems import CommandProblem
from aop.cli.shell.stores import MIGRATION_SETTING, read_setting
from aop.store import migrations
from aop.store.problems import StoreUnavailable


async def migrate(out: Output) -> None:
    """Repeating it changes nothing. There is no downgrade.

    The login of PLATFORM_MIGRATION_DATABASE_URL must be, or be able to become, a member of the role aop_owner.

    Example: aop migrate
    """
    url = read_setting(lambda reader: reader.required(MIGRATION_SETTING, database_url))
    try:
        with out.working("migrating"):
            migrated = await migrations.migrate(url.reveal())
    except migrations.MigrationRefused as refused:
        raise CommandProblem(str(refused)) from None
    except StoreUnavailable as failure:
        text = f"{MIGRATION_SETTING}: the database cannot be reached or refused a statement ({failure})"
        raise CommandProblem(text) from None
    applied = [str(migration) for migration in migrated]
    lines = [f"applied {name}" for name in applied] or ["already at the current version"]
    out.tell({"applied": applied}, *lines)
