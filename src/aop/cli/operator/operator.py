"""`aop release suspend --operator`: suspends any Release, with the database login of the Control Plane."""

from pathlib import Path

from aop.base.clock import utc_now
from aop.cli.shell.problems import CommandProblem
from aop.cli.shell.store_session import store_problems
from aop.cli.shell.stores import control_plane_database
from aop.contracts.errors import InvalidRequest, Refusal, code_entries
from aop.contracts.publication import Release
from aop.contracts.recovery import recovery_of
from aop.control_plane.registry.releases import Releases
from aop.serving.edge.routing import require_path_values
from aop.store.database import Database
from aop.store.store_check import require_version


async def suspend_on_store(release_id: str, data: Path | None) -> Release:
    """The Gateway's own transition and its errors, for a Release of any owner."""
    url = control_plane_database(data)
    try:
        require_path_values({"releaseId": release_id})
        with store_problems():
            database = await Database.open(url, size=1, application="aop release suspend")
            try:
                async with database.connection() as connection:
                    await require_version(connection, "registry")
                return await Releases(database, utc_now).suspend_as_operator(release_id)
            finally:
                await database.close()
    except Refusal as refusal:
        raise _problem(refusal) from None


def _problem(refusal: Refusal) -> CommandProblem:
    problem = CommandProblem(code_entries()[refusal.code].message, code=refusal.code)
    recovery = recovery_of(refusal.code, refusal.reason)
    problem.reason, problem.sentence, problem.recovery = refusal.reason, recovery.sentence, recovery.action
    if isinstance(refusal, InvalidRequest):
        problem.violations = refusal.violations
    return problem
