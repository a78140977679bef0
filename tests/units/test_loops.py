"""Every background loop of the units meets an exception nobody listed: it is told, counted, shown, and runs again."""

import ast
import asyncio
import io
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, cast

import pytest
from prometheus_client.exposition import generate_latest

import aop
from aop.base.clock import utc_now
from aop.base.loops import Loops
from aop.contracts.topology import FrameKind, TopologyEvent
from aop.control_plane.registry.changes import ChangeSignal
from aop.ledger.model import Writer
from aop.ledger.months import Months
from aop.ledger.sequence.sequencer import Sequencer
from aop.ledger.write.checkpoints import Checkpoints
from aop.ledger.write.epochs import EpochWatch
from aop.ledger.write.group_commit import UNKNOWN, GroupCommit, Statements
from aop.ledger.write.journal import Journal
from aop.local.state import DatabaseUrls
from aop.router.invocation.parents import ParentWatch
from aop.router.targets.topology import Topology
from aop.router.targets.topology_watch import TopologyWatch
from aop.serving.edge.metrics import UnitMetrics
from aop.serving.edge.request_log import UnitLog
from aop.serving.unit.background import unit_loops
from aop.serving.unit.health import Readiness
from aop.telemetry.export import Repeating
from tests.support.collector import running_collector
from tests.support.every import every
from tests.support.loop import Changes, running_platform
from tests.support.waiting import PATIENCE_SECONDS, becomes_true

SECRET = "canary-of-a-row"


class Unlisted(Exception):
    """As a driver's new class, a row with a NULL, or a bug of ours would be."""


class Broken:
    """Stands for a dependency: whatever is asked of it raises."""

    def __init__(self) -> None:
        self.failures, self.has_failed = 0, asyncio.Event()
        self.database: Any = SimpleNamespace(connection=self.fail)

    def fail(self, *_: object, **__: object) -> NoReturn:
        self.failures += 1
        self.has_failed.set()
        raise Unlisted(SECRET)

    async def fail_later(self, *_: object, **__: object) -> NoReturn:
        self.fail()


def parents(loops: Loops, broken: Broken) -> None:
    lineage = SimpleNamespace(ended_with_children=broken.fail_later)
    supervisor = SimpleNamespace(parents_elsewhere=lambda: ["inv_x"])
    loops.start("parents", ParentWatch(cast("Any", lineage), cast("Any", supervisor)).turn)


def checkpoints(loops: Loops, broken: Broken) -> None:
    journal = SimpleNamespace(settled_before=2, checkpoint=broken.fail_later)
    loops.start("checkpoints", Checkpoints(cast("Any", None), cast("Any", journal), 0.01).turn, needed=False)


def epoch_watch(loops: Loops, broken: Broken) -> None:
    loops.start("epoch watch", EpochWatch(broken.database, "router-1", 1, lambda: None).turn)


def months(loops: Loops, broken: Broken) -> None:
    loops.start("months", Months(broken.database, 0.01).turn, needed=False)


def sequencer(loops: Loops, broken: Broken) -> None:
    loops.start("sequencer", Sequencer(broken.fail_later, Writer("router-1", 1)).turn, needed=False)


def topology_watch(loops: Loops, broken: Broken) -> None:
    peer, token = SimpleNamespace(stream=broken.fail_later), SimpleNamespace(reveal=lambda: "token")
    loops.start("topology watch", TopologyWatch(cast("Any", peer), cast("Any", token), Topology(utc_now)).turn)


def changes(loops: Loops, broken: Broken) -> None:
    loops.start("changes", ChangeSignal(cast("Any", SimpleNamespace(reveal=broken.fail))).turn, needed=False)


def telemetry(loops: Loops, broken: Broken) -> None:
    Repeating("traces", broken.fail_later, 0.01, loops, lambda event, cause: None)


def ledger(kind: str) -> Callable[[Loops, Broken], None]:
    """The writer of one kind of entry, whose way to the store fails in a way nobody listed."""

    def start(loops: Loops, broken: Broken) -> None:
        commits: GroupCommit[str, str] = GroupCommit(
            Statements(broken.fail_later, broken.fail_later), broken.fail_later, PATIENCE_SECONDS, lambda: None
        )
        commits.start(loops, f"ledger {kind}")

        async def again_and_again() -> None:
            while True:
                assert await commits.write("entry") == UNKNOWN
                assert await commits.probe("entry") == UNKNOWN

        TASKS.add(asyncio.create_task(again_and_again()))

    return start


def ledger_settle(loops: Loops, broken: Broken) -> None:
    async def connect() -> Any:
        return cast("Any", None)

    def tell(_: int) -> None:
        journal._reported_unsettled = True
        broken.fail()

    writer = Writer("router-1", 1)
    journal = Journal(writer, connect, utc_now, write_seconds=5.0, fenced=lambda: None, unsettled=tell)
    journal._reported_unsettled = (
        True  # as after a failure of the store that is over: whoever is to be told of it fails
    )
    journal.start(loops)


TASKS: set[asyncio.Task[None]] = set()
LOOPS: dict[str, Callable[[Loops, Broken], None]] = {
    "changes": changes,
    "checkpoints": checkpoints,
    "epoch watch": epoch_watch,
    **{f"ledger {kind}": ledger(kind) for kind in ("acceptances", "cancels", "endings", "facts")},
    "ledger settle": ledger_settle,
    "parents": parents,
    "months": months,
    "sequencer": sequencer,
    "telemetry traces": telemetry,
    "topology watch": topology_watch,
}
OPTIONAL = {"changes", "checkpoints", "months", "sequencer", "telemetry traces"}
"""A unit is ready without them: each only makes something sooner or cheaper, or is nothing a caller needs."""


@pytest.mark.rows("SAFE-09")
@every("name", LOOPS)
async def test_a_loop_that_meets_an_unlisted_exception_is_told_counted_shown_and_runs_again(name: str) -> None:
    out, metrics, broken = io.BytesIO(), UnitMetrics("router"), Broken()
    log = UnitLog("router", out=cast("Any", out))
    loops = unit_loops(log, metrics)
    readiness = Readiness({"loops": loops.check}, log, metrics)
    LOOPS[name](loops, broken)

    async def runs_again_and_is_seen() -> bool:
        """Looks right behind a fault. On a busy machine a loop that pauses for 10 ms runs again before any other look,
        and whoever looks then sees a loop that has run for as long as it paused."""
        broken.has_failed.clear()
        await broken.has_failed.wait()
        return broken.failures >= 2 and await readiness.ready() == (name in OPTIONAL)

    try:
        await becomes_true(runs_again_and_is_seen)
    finally:
        tasks = [TASKS.pop() for _ in range(len(TASKS))]
        still_asking = [task.cancel() for task in tasks]
        await asyncio.wait([asyncio.create_task(loops.close()), *tasks])
    assert all(still_asking)
    records = [json.loads(line) for line in out.getvalue().splitlines()]
    faults = [record for record in records if record["event"] == "loop.fault"]
    assert len(faults) == broken.failures
    assert all(fault["cause"].startswith(f"{name}: Unlisted at ") for fault in faults)
    assert {fault["level"] for fault in faults} == {"error"}
    assert SECRET.encode() not in out.getvalue()
    assert (
        f'aop_loop_faults_total{{check="{name}",unit="router"}} {broken.failures}.0'
        in generate_latest(metrics.registry).decode()
    )


async def test_a_topology_that_nobody_renews_is_not_live() -> None:
    topology, loops, broken = Topology(utc_now), Loops(lambda _: lambda _: None), Broken()
    topology.connected()
    topology.take(TopologyEvent(schema_version="1", kind=FrameKind.SNAPSHOT, revision=1, releases=(), complete=True))
    assert topology.live
    watch = TopologyWatch(
        cast("Any", SimpleNamespace(stream=broken.fail_later)),
        cast("Any", SimpleNamespace(reveal=lambda: "token")),
        topology,
    )
    loops.start("topology watch", watch.turn)

    async def failed() -> bool:
        return broken.failures >= 1

    await becomes_true(failed)
    assert not topology.live
    await loops.close()


async def test_every_loop_of_the_running_units_is_in_the_list_above(stores: DatabaseUrls) -> None:
    async with running_collector() as collector:
        settings = collector.settings()
        async with running_platform(stores, Changes(control_plane=settings, router=settings)) as platform:

            async def is_ready() -> bool:
                return (await platform.router.get("/readyz")).status == 200

            await becomes_true(is_ready)
            names = {task.get_name() for task in asyncio.all_tasks()}
            assert {name.removeprefix("loop ") for name in names if name.startswith("loop ")} == set(LOOPS)
            assert 'aop_ready{check="loops",unit="router"} 1.0' in (await platform.router.get("/metrics")).body.decode()


ENDING_TASKS = {
    "agent/server/endpoint.py": "one answer and the watch for its caller's departure, both awaited at once",
    "agent/server/tasks.py": "one Task of an Agent, within the time limit of its Card",
    "base/loops.py": "the one place where a loop begins",
    "cards/checks.py": "one survey of a schema, awaited by all who need it",
    "cli/provider/dev.py": "the whole of `aop dev`, awaited at once",
    "cli/provider/dev_loop.py": "one state of the folder, and the tail of calls, both ended when the command stops",
    "cli/provider/dev_process.py": "the log and the end of one Agent's process, ended when it is stopped",
    "cli/provider/dev_steps.py": "one step of `aop dev`, awaited to its end",
    "control_plane/gateway/oidc/key_set.py": "one fetch of keys, awaited by all who need them",
    "door/bearers.py": "one question about a bearer, awaited by all who sent it, and ended at the stop",
    "door/mcp/stdio.py": "one request of the host and the writer of its answers, both awaited at the end",
    "door/mcp/tool_answers.py": "one call of a tool, ended with its answer or with its caller",
    "front/agent.py": "one cancel, or the rest of a stream that has ended, within seconds and ended at the stop",
    "local/supervisor.py": "awaited by `aop up`, which ends with the first that fails",
    "local/up.py": "the whole platform, awaited at once",
    "net/server/connections.py": "one accepted socket until it is a connection, awaited at the stop",
    "net/server/server.py": "one request",
    "processes/keeper.py": "one wait for all that start, cancelled and awaited when one of them fails",
    "router/invocation/supervisor.py": "one Invocation",
    "router/stream/progress.py": "one write, awaited by the next and by the end",
    "serving/workers/parent.py": "the keeper of each worker and the reader of its link, ended at the stop",
    "serving/unit/unit.py": "two events, of which the first is awaited",
    "serving/workers/worker_group.py": "the link to the parent, ended at the stop; its own end ends the process",
    "serving/workers/worker_link.py": "one answer to a question, ended with the link",
    "store/grouped_reads.py": "one read, awaited by all who asked for it",
    "store/writable.py": "one try of a host, closed when another one was faster",
}
"""Every module that starts a task, and why that task ends or is awaited."""


def test_no_module_starts_a_task_that_is_neither_a_loop_with_an_owner_nor_ends() -> None:
    source, names = Path(aop.__file__).parent, {"create_task", "ensure_future", "TaskGroup"}
    texts = {path: path.read_text() for path in source.rglob("*.py")}
    starting = {
        path.relative_to(source).as_posix()
        for path, text in texts.items()
        if any(name in text for name in names)  # to walk through all of them takes seconds
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute | ast.Name) and _name(node) in names
    }
    assert starting == set(ENDING_TASKS)


def _name(node: ast.Attribute | ast.Name) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id
