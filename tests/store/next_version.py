"""Migrates a store to a version that does not exist yet: `python -m tests.store.next_version`.

What the next release could bring to the Ledger without rewriting it; the database is that of the usual setting.
"""

import asyncio
import os
import sys
from collections.abc import Sequence

from aop import __version__
from aop.store import migrations
from aop.store.migrations import Migration, migrate, migrations_of
from tests.support.processes import ProgramFailed, program

SQL = """
ALTER TABLE ledger.event ADD COLUMN cost bigint;
ALTER TABLE ledger.event ADD CONSTRAINT event_cost_positive CHECK (cost > 0) NOT VALID;
ALTER TABLE ledger.invocation ADD COLUMN note_id uuid;
CREATE TABLE ledger.note (note_id uuid PRIMARY KEY, recorded_at timestamptz NOT NULL DEFAULT clock_timestamp());
GRANT SELECT ON ledger.note TO aop_router;
"""


WITHOUT_STOP = f"""-- oldest ready version: {__version__}
ALTER TABLE ledger.event ADD COLUMN cost bigint;
CREATE INDEX invocation_of_next ON ledger.invocation (created_at) WHERE false;
"""
DECLARED = "declared"
"""Behind the name of a program of this module: the next version can be reached without a stop."""


async def migrated(url: str, *options: str) -> tuple[int, str]:
    """By this program in a process of its own: its exit code, and what it said."""
    try:
        said = await program(__name__, *options, env={"PLATFORM_MIGRATION_DATABASE_URL": url, "PATH": os.defpath})
    except ProgramFailed as failed:
        return 1, str(failed).partition(": ")[2].strip()
    return 0, said.decode().strip()


def become_next(*, declared: bool) -> None:
    """This process is of the next version from here on."""
    all_of = {owner: migrations_of(owner) for owner in migrations.OWNERS}
    sql = WITHOUT_STOP if declared else SQL
    all_of["ledger"] = [*all_of["ledger"], Migration("ledger", len(all_of["ledger"]) + 1, "next", sql)]

    def of_next_version(owner: str) -> Sequence[Migration]:
        return all_of[owner]

    migrations.migrations_of = of_next_version  # type: ignore[assignment]  # in this process alone


def main(url: str) -> int:
    become_next(declared=DECLARED in sys.argv)
    try:
        migrated = asyncio.run(migrate(url))
    except migrations.MigrationRefused as refused:
        sys.stdout.write(f"{refused}\n")
        return 1
    sys.stdout.write("".join(f"applied {each}\n" for each in migrated))
    return 0


if __name__ == "__main__":
    sys.exit(main(os.environ["PLATFORM_MIGRATION_DATABASE_URL"]))  # noqa: TID251
