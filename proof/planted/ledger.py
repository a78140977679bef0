"""Planted bugs of the Ledger: its guards in the store, its writer, its epochs."""

from collections.abc import Sequence

from tests.mutants.mutant import Mutant

_SQL = "migrations/ledger/0002_journal.sql"

LEDGER: Sequence[Mutant] = (
    Mutant(
        "no index for one terminal",
        _SQL,
        "CREATE UNIQUE INDEX event_one_terminal",
        "CREATE INDEX event_one_terminal",
        "The last guard against two ends of one Invocation would be gone, and nobody would be told.",
    ),
    Mutant(
        "events can be rewritten by a replica",
        _SQL,
        "ALTER TABLE ledger.event ENABLE ALWAYS TRIGGER event_kept;",
        "",
        "A superuser's session setting would be enough to change history.",
    ),
    Mutant(
        "no fence between epochs",
        _SQL,
        "IF own_epoch IS DISTINCT FROM (SELECT max(epoch) FROM ledger.epoch WHERE router_id = of_router) THEN",
        "IF own_epoch IS NULL THEN",
        "A Router that was frozen would wake up and write beside its successor.",
    ),
    Mutant(
        "the Control Plane may read the Ledger",
        "migrations/ledger/0001_schema.sql",
        "GRANT USAGE ON SCHEMA ledger TO aop_router;",
        "GRANT USAGE ON SCHEMA ledger TO aop_router, aop_control_plane;\n"
        "ALTER DEFAULT PRIVILEGES IN SCHEMA ledger GRANT SELECT ON TABLES TO aop_control_plane;",
        "A hole in the Gateway would become a hole in the Ledger.",
    ),
    Mutant(
        "a found acceptance counts as a fresh one",
        "src/aop/ledger/journal.py",
        "            case Written(created_at):\n",
        "            case Written(created_at) | Found(created_at):\n",
        "An Agent would be set to work on an acceptance its caller has long given up.",
    ),
    Mutant(
        "an unknown write is taken for done",
        "src/aop/ledger/journal.py",
        "                self.defer(*facts)\n                return False\n",
        "                self.defer(*facts)\n                return True\n",
        "A caller would be told a result that no record shows.",
    ),
    Mutant(
        "lost backends are left alone",
        "src/aop/ledger/group_commit.py",
        "                    await self._connection.end_lost_backends(connection)\n",
        "",
        "What was told to be absent could still be committed, and run for ever in every list.",
    ),
    Mutant(
        "checkpoints run ahead",
        "src/aop/ledger/open_invocations.py",
        "return self._next_position if first is None else first.position",
        "return self._next_position",
        "After a crash, open Invocations behind the checkpoint would stay open for ever.",
    ),
    Mutant(
        "a caller's leaving is forgotten by the next epoch",
        "src/aop/ledger/epochs.py",
        'CANCELED if row["cancel_requested"] else LOST',
        "LOST",
        "What somebody canceled would be shown as a failure of the platform.",
    ),
    Mutant(
        "unconfirmed progress is dropped",
        "src/aop/router/stream/progress.py",
        "facts = [] if self._unconfirmed is None else [self._unconfirmed]",
        "facts: list[Fact] = []",
        "The chain of events would break where the store hiccuped.",
    ),
    Mutant(
        "a probe that waited long is answered without being asked",
        "src/aop/ledger/group_commit.py",
        "        found = await self._probed([waiting.entry for waiting in batch], self._time_limit())\n",
        "        late = asyncio.get_running_loop().time() - self._write_seconds\n"
        "        _tell_all([waiting for waiting in batch if waiting.since < late], ABSENT)\n"
        "        found = await self._probed([waiting.entry for waiting in batch], self._time_limit())\n",
        "One stall of the store would leave accepted Invocations running for ever.",
    ),
    Mutant(
        "a connection that could not be prepared stays open",
        "src/aop/ledger/writer_connection.py",
        "        except BaseException:\n            connection.terminate()\n",
        "        except BaseException:\n",
        "Backends would pile up against the server's limit just when it is weak.",
    ),
    Mutant(
        "a question is asked past its time",
        "src/aop/ledger/group_commit.py",
        "        while loop.time() < limit:\n",
        "        while True:\n",
        "Callers would wait for as long as the store is away.",
    ),
    Mutant(
        "closing an epoch stops after one batch",
        "src/aop/ledger/epochs.py",
        "while rows :=",
        "if rows :=",
        "After a crash with more open Invocations than a batch holds, the Router could not start.",
    ),
    Mutant(
        "a parent that timed out elsewhere keeps its children",
        "src/aop/ledger/reads.py",
        "sorted(terminal.type for terminal in ENDS_CHILDREN)",
        '["canceled"]',
        "Children on other Routers would go on working for a caller that has its answer.",
    ),
)
