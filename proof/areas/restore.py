"""Area `restore`: backups under load that give the same facts and guards elsewhere, and a migration under load."""

import asyncio
import signal
from pathlib import Path

from aop.store.database import connect
from aop.store.migrations import OWNERS
from aop.store.store_check import require_store
from benchmarks import ledger as ledger_benchmark
from proof.area import Area, Figure, Findings, Run, proves
from proof.gathering import settled
from proof.restore.stores import Facts, Store, archiving_store, base_backup, dump, recovered, undumped
from proof.traffic import Load, answering, traffic
from proof.world import World, world
from tests.ledger.writing import breaches
from tests.store.next_version import migrated
from tests.support.postgres import session

POINT = "before_the_mistake"
BLOCKED_SECONDS = 1.0


async def run(run: Run) -> Findings:
    found = Findings()
    async with archiving_store(run.folder) as store:
        await _seed(store, run.pick(2_000, 1_000_000))
        run.say("seeded")
        async with world(store.urls, store.superuser, run.folder) as made:
            made.agent.usual = (answering(),)
            backup = run.folder / "backup"
            await _back_up(run, found, made, store, backup)
            await _migrate(run, found, made, store)
            for unit in made.units:
                unit.send(signal.SIGTERM)
            await asyncio.gather(*(unit.ended(40) for unit in made.units))
            await _recover(found, store, backup)
    return found


async def _seed(store: Store, events: int) -> None:
    async with session(store.superuser) as connection:
        await connection.execute("INSERT INTO ledger.epoch (router_id, epoch) VALUES ('seed', 1)")
    await ledger_benchmark._seed(store.superuser, 0, events)


@proves(
    "A dump that was taken under load gives exactly the facts of its moment, the same guards and the same"
    " rights, and the units work on it."
)
async def _back_up(run: Run, found: Findings, made: World, store: Store, backup: Path) -> None:
    """Both kinds while callers work; the dump is restored at once, into a database of its own, and looked at."""
    async with traffic(made, Load(json=3, streams=1, pause=0.02)) as going:
        await going.succeeds(20)
        await base_backup(store, backup)
        found.hits["base backup under load"] += 1
        dumped = await dump(store, run.folder / "platform.dump")
        found.hits["dump under load"] += 1
        await going.succeeds(20)
    run.say("backed up")
    found.require(not going.failures, "a call failed while a backup was taken")
    restored = await undumped(store, run.folder / "platform.dump")
    await _require_same(found, "dump and restore", dumped, restored)
    await _require_usable(found, made, restored)
    await _set_store(made, store)
    run.say("dump restored")


async def _require_same(found: Findings, what: str, before: Facts, store: Store) -> None:
    found.broken += [f"{what}: different {each}" for each in before.differences(await store.facts())]
    found.broken += [f"{what}: ledger check: {each}" for each in await breaches(store.urls.router)]
    for owner in OWNERS:
        login = store.urls.router if owner == "ledger" else store.urls.control_plane
        connection = await connect(login, application="test")
        try:
            await require_store(connection, owner)
        finally:
            await connection.close()
    found.hits[what] += 1


async def _require_usable(found: Findings, made: World, store: Store) -> None:
    """The same units on the restored store: ready, all that was recorded is shown, and new calls are accepted."""
    newest = (await made.first.read("/invocations"))["items"][0]["invocationId"]
    before = await made.first.read(f"/invocations/{newest}")
    await _set_store(made, store)
    again = await made.read(f"/invocations/{newest}")
    same = again.status == 404 or again.json == before
    found.require(same, f"{newest} is shown differently by the restored store")
    reply = await made.invoke(secret="x")
    found.require(reply.status == 200, f"the restored store serves no call: {reply.status}")
    found.hits["units started on a restored store"] += 1


async def _set_store(made: World, store: Store) -> None:
    """Stops the units and starts them on this store."""
    settings = {"PLATFORM_DATABASE_URL": store.urls.control_plane, "PLATFORM_ROUTER_DATABASE_URL": store.urls.router}
    for unit in made.units:
        unit.send(signal.SIGTERM)
    for unit in made.units:
        await unit.ended(40)
        unit.settings.update({name: url for name, url in settings.items() if name in unit.settings})
    for group in (made.control_planes, made.routers):
        for unit in group:
            await unit.restart()


@proves(
    "A migration of a large Ledger under load fails no call and blocks no write for longer than a second,"
    " also when a long reader is in its way."
)
async def _migrate(run: Run, found: Findings, made: World, store: Store) -> None:
    """To a next version while callers work: once with a long reader in its way, which must not become theirs."""
    async with traffic(made, Load(json=4, streams=2)) as going:
        await going.succeeds(20)
        async with session(store.superuser) as reader, reader.transaction():
            await reader.fetchval("SELECT count(*) FROM ledger.event")
            refused, said = await migrated(store.urls.migration)
            found.require(refused == 1 and "not applied" in said, f"migration beside a reader: {refused} {said}")
            found.hits["migration that met a long reader"] += 1
        await going.succeeds(20)
        for _ in range(5):  # as an operator repeats it
            failed, said = await migrated(store.urls.migration)
            if not failed:
                break
        found.require(not failed, f"migration: {said}")
        found.hits["migration under load"] += 1
        await going.succeeds(20)
    await settled(made)
    run.say("migrated")
    found.require(not going.failures, "a call failed while the store was migrated")
    slowest = max(result.seconds for result in going.results)
    name = "longest call during the migrations, with both its writes"
    found.figures.append(Figure(name, slowest, "s", at_most=BLOCKED_SECONDS))


@proves(
    "A base backup that was taken under load gives, with the archived log, exactly the facts and guards of a"
    " named point and of the end."
)
async def _recover(found: Findings, store: Store, backup: Path) -> None:
    """To a named point and to the end, from one backup and the archive; nothing that was committed is missing."""
    before = await store.facts()
    async with session(store.superuser) as connection:
        await connection.execute(f"SELECT pg_create_restore_point('{POINT}')")
        await connection.execute("INSERT INTO ledger.epoch (router_id, epoch) VALUES ('mistake', 1)")
    after = await store.facts()
    found.require(bool(before.differences(after)), "the two points to recover to do not differ")
    await store.archived()
    for name, until, facts in (("to_the_point", POINT, before), ("to_the_end", None, after)):
        async with recovered(store, backup, name, until) as other:
            found.broken += [f"recovered {name}: different {each}" for each in facts.differences(await other.facts())]
            found.broken += [f"recovered {name}: {each}" for each in await breaches(other.urls.router)]
            found.hits[f"recovered {name}"] += 1


AREA = Area("restore", "Restore", run, (_recover, _back_up, _migrate), alone=True)
