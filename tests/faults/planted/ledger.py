"""Planted bugs of the Ledger: its guards in the store, its writer, its epochs."""

from collections.abc import Sequence

from tests.faults.planted.mutant import SIMULATED, Mutant

_SQL = "migrations/ledger/0002_journal.sql"
_JOURNAL = "tests/ledger/test_journal.py"

LEDGER: Sequence[Mutant] = (
    Mutant(
        "no index for one terminal",
        _SQL,
        "CREATE UNIQUE INDEX event_one_terminal",
        "CREATE INDEX event_one_terminal",
        "tests/router/test_peers.py::test_the_router_is_ready_and_its_metrics_show_no_secret",
        "The last guard against two ends of one Invocation would be gone, and nobody would be told.",
    ),
    Mutant(
        "events can be rewritten by a replica",
        _SQL,
        "ALTER TABLE ledger.event ENABLE ALWAYS TRIGGER event_kept;",
        "",
        "tests/ledger/test_hostile_statements.py::test_no_login_changes_or_removes_a_row",
        "A superuser's session setting would be enough to change history.",
    ),
    Mutant(
        "no fence between epochs",
        _SQL,
        "IF own_epoch IS DISTINCT FROM (SELECT max(epoch) FROM ledger.epoch WHERE router_id = of_router) THEN",
        "IF own_epoch IS NULL THEN",
        f"{_JOURNAL}::test_a_writer_of_an_older_epoch_adds_nothing_and_learns_why",
        "A Router that was frozen would wake up and write beside its successor.",
    ),
    Mutant(
        "the Control Plane may read the Ledger",
        "migrations/ledger/0001_schema.sql",
        "GRANT USAGE ON SCHEMA ledger TO aop_router;",
        "GRANT USAGE ON SCHEMA ledger TO aop_router, aop_control_plane;\n"
        "ALTER DEFAULT PRIVILEGES IN SCHEMA ledger GRANT SELECT ON TABLES TO aop_control_plane;",
        "tests/ledger/test_hostile_statements.py::test_the_control_plane_reaches_nothing_of_the_ledger",
        "A hole in the Gateway would become a hole in the Ledger.",
    ),
    Mutant(
        "a found acceptance counts as a fresh one",
        "src/aop/ledger/journal.py",
        "if told.verdict is Verdict.STORED and told.result is not None:",
        "if told.verdict in {Verdict.STORED, Verdict.FOUND} and told.result is not None:",
        "tests/faults/simulation/test_finds.py::test_a_fenced_router_leaves_what_it_found_too_late_to_the_newer_epoch",
        "An Agent would be set to work on an acceptance its caller has long given up.",
    ),
    Mutant(
        "an unknown write is taken for done",
        "src/aop/ledger/journal.py",
        "        self.owe(*facts)\n        return False\n",
        "        self.owe(*facts)\n        return True\n",
        SIMULATED,
        "A caller would be told a result that no record shows.",
    ),
    Mutant(
        "lost backends are left alone",
        "src/aop/ledger/lane.py",
        "                    await self._end_lost_backends(connection)\n",
        "",
        SIMULATED,
        "What was told to be absent could still be committed, and run for ever in every list.",
    ),
    Mutant(
        "checkpoints run ahead",
        "src/aop/ledger/journal.py",
        "return next(iter(self._open.values()), self._next_position)",
        "return self._next_position",
        SIMULATED,
        "After a crash, open Invocations behind the checkpoint would stay open for ever.",
    ),
    Mutant(
        "a caller's leaving is forgotten by the next epoch",
        "src/aop/ledger/epochs.py",
        'CANCELED if row["cancel_requested"] else LOST',
        "LOST",
        f"{_JOURNAL}::test_closing_ends_each_open_invocation_once_and_only_behind_the_last_checkpoint",
        "What somebody canceled would be shown as a failure of the platform.",
    ),
    Mutant(
        "unconfirmed progress is dropped",
        "src/aop/router/progress.py",
        "facts = [] if self._unconfirmed is None else [self._unconfirmed]",
        "facts: list[Fact] = []",
        SIMULATED,
        "The chain of events would break where the store hiccuped.",
    ),
)
