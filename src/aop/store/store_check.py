"""Tells whether a schema of the store is the expected one: its version, and that every guard stands."""

import json
from collections.abc import Mapping, Sequence
from functools import cache

from aop import __version__
from aop.base import assets
from aop.base.semver import Version
from aop.store.database import Connection
from aop.store.migrations import expected_version
from aop.store.problems import StoreNotAsExpected

Guards = Mapping[str, Sequence[str]]

# Those of partitions are part of their table's, apart from triggers for statements, which each partition has itself.
_GUARDS = """
SELECT 'constraint' AS kind, rel.relname || '.' || con.conname AS name
  FROM pg_constraint con JOIN pg_class rel ON rel.oid = con.conrelid JOIN pg_namespace ns ON ns.oid = rel.relnamespace
 WHERE ns.nspname = $1 AND con.convalidated AND con.contype IN ('c', 'f', 'p', 'u') AND con.conparentid = 0
   AND NOT rel.relispartition
UNION ALL
SELECT 'trigger', rel.relname || '.' || trg.tgname
  FROM pg_trigger trg JOIN pg_class rel ON rel.oid = trg.tgrelid JOIN pg_namespace ns ON ns.oid = rel.relnamespace
 WHERE ns.nspname = $1 AND NOT trg.tgisinternal AND trg.tgenabled = 'A' AND NOT rel.relispartition
UNION ALL
SELECT 'index', tab.relname || '.' || idx.relname
  FROM pg_index pgi JOIN pg_class idx ON idx.oid = pgi.indexrelid JOIN pg_class tab ON tab.oid = pgi.indrelid
  JOIN pg_namespace ns ON ns.oid = tab.relnamespace
 WHERE ns.nspname = $1 AND pgi.indisunique AND pgi.indisvalid AND NOT tab.relispartition
"""
_UNGUARDED_PARTITION = """
SELECT part.relname || '.' || trg.tgname
  FROM pg_trigger trg JOIN pg_class rel ON rel.oid = trg.tgrelid JOIN pg_namespace ns ON ns.oid = rel.relnamespace
  JOIN pg_inherits inh ON inh.inhparent = rel.oid JOIN pg_class part ON part.oid = inh.inhrelid
 WHERE ns.nspname = $1 AND rel.relkind = 'p' AND NOT trg.tgisinternal AND trg.tgenabled = 'A'
   AND NOT EXISTS (SELECT FROM pg_trigger own WHERE own.tgrelid = part.oid AND own.tgname = trg.tgname
                      AND own.tgfoid = trg.tgfoid AND own.tgtype = trg.tgtype AND own.tgenabled = 'A')
 ORDER BY 1 LIMIT 1
"""


@cache
def expected_guards(owner: str) -> Guards:
    guards: Guards = json.loads((assets.folder("migrations") / owner / "guards.json").read_bytes())
    return guards


async def found_guards(connection: Connection, owner: str) -> Guards:
    found: dict[str, list[str]] = {"constraint": [], "trigger": [], "index": []}
    for row in await connection.fetch(_GUARDS, owner):
        found[row["kind"]].append(row["name"])
    return {kind: sorted(names) for kind, names in found.items()}


async def require_version(connection: Connection, owner: str) -> None:
    if await connection.fetchval("SELECT to_regclass($1)", f"{owner}.schema_version") is None:
        raise StoreNotAsExpected(f"the schema {owner} does not exist; run: aop migrate")
    version = await connection.fetchval(f"SELECT coalesce(max(number), 0) FROM {owner}.schema_version")  # noqa: S608
    if version < expected_version(owner) or not await _may_stay(connection, owner):
        raise StoreNotAsExpected(
            f"the schema {owner} has version {version}, this aop works with {expected_version(owner)}; run: aop migrate"
        )


async def require_store(connection: Connection, owner: str) -> None:
    """Version and guards; a dropped constraint or trigger is as bad as a missing table."""
    await require_version(connection, owner)
    found = await found_guards(connection, owner)
    for kind, names in expected_guards(owner).items():
        missing = sorted(set(names) - set(found[kind]))
        if missing:
            raise StoreNotAsExpected(f"the schema {owner} lacks the {kind} {missing[0]}")
    unguarded = await connection.fetchval(_UNGUARDED_PARTITION, owner)
    if unguarded is not None:
        raise StoreNotAsExpected(f"the schema {owner} lacks the trigger {unguarded}")


async def _may_stay(connection: Connection, owner: str) -> bool:
    """Whether each migration that this version does not know says that units as old as this may stay on it."""
    # As JSON, because a store of before has no such column.
    newer = f"SELECT to_jsonb(one)->>'oldest_ready' FROM {owner}.schema_version AS one WHERE number > $1"  # noqa: S608
    oldest = [row[0] for row in await connection.fetch(newer, expected_version(owner))]
    own = Version.parse(__version__).precedence
    return all(declared is not None and Version.parse(declared).precedence <= own for declared in oldest)
