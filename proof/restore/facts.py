"""What a store holds and what guards it, as values that can be compared between two stores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aop.store.database import Connection
from aop.store.migrations import OWNERS

# Order does not matter, every row and every byte of it does.
_ROWS = (
    "SELECT count(*) || ' ' || coalesce(sum(('x' || left(md5(t::text), 16))::bit(64)::bigint::numeric), 0)::text"
    " FROM {0} AS t"
)
_TABLES = "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = ANY($1) ORDER BY 1"
# Brackets and blanks of a condition depend on how often it was written out and read in again.
_GUARDS = """
SELECT 'function ' || p.oid::regprocedure::text || ' ' || md5(pg_get_functiondef(p.oid)) FROM pg_proc AS p
 WHERE p.pronamespace = ANY($1::regnamespace[])
UNION ALL
SELECT 'trigger ' || tgenabled::text || ' ' || pg_get_triggerdef(t.oid)
  FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = tgrelid
 WHERE relnamespace = ANY($1::regnamespace[]) AND NOT tgisinternal
UNION ALL
SELECT concat_ws(' ', 'constraint', conrelid::regclass, conname, convalidated,
                 translate(pg_get_constraintdef(oid), E'() \n', ''))
  FROM pg_constraint WHERE connamespace = ANY($1::regnamespace[]) AND contype <> 'n'
UNION ALL
SELECT 'index ' || indisvalid::text || ' ' || pg_get_indexdef(indexrelid)
  FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid WHERE relnamespace = ANY($1::regnamespace[])
UNION ALL
SELECT 'view ' || oid::regclass::text || ' ' || pg_get_viewdef(oid)
  FROM pg_class WHERE relnamespace = ANY($1::regnamespace[]) AND relkind = 'v'
UNION ALL
SELECT concat_ws(' ', 'column', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull)
  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
 WHERE relnamespace = ANY($1::regnamespace[]) AND attnum > 0 AND NOT attisdropped AND relkind IN ('r', 'v')
"""
_RIGHTS = """
SELECT 'schema ' || oid::regnamespace::text || ' ' || item::text
  FROM pg_namespace, unnest(coalesce(nspacl, acldefault('n', nspowner))) AS item WHERE oid = ANY($1::regnamespace[])
UNION ALL
SELECT 'relation ' || oid::regclass::text || ' ' || item::text
  FROM pg_class, unnest(coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", relowner)))
       AS item
 WHERE relnamespace = ANY($1::regnamespace[]) AND relkind IN ('r', 'v', 'S')
UNION ALL
SELECT 'column ' || attrelid::regclass::text || '.' || attname::text || ' ' || item::text
  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid, unnest(attacl) AS item
 WHERE relnamespace = ANY($1::regnamespace[])
UNION ALL
SELECT 'function ' || oid::regprocedure::text || ' ' || item::text
  FROM pg_proc, unnest(coalesce(proacl, acldefault('f', proowner))) AS item WHERE pronamespace = ANY($1::regnamespace[])
UNION ALL
SELECT 'database ' || item::text FROM pg_database, unnest(datacl) AS item
 WHERE datname = current_database() AND item::text NOT LIKE pg_get_userbyid(datdba)::text || '=%'
"""


@dataclass(frozen=True)
class Facts:
    rows: Mapping[str, str]
    """By table: how many, and a digest over all of them."""
    guards: Sequence[str]
    rights: Sequence[str]

    def differences(self, other: "Facts") -> list[str]:
        tables = sorted(self.rows.keys() | other.rows.keys())
        found = [f"rows of {table}" for table in tables if self.rows.get(table) != other.rows.get(table)]
        for kind in ("guards", "rights"):
            mine, theirs = set(getattr(self, kind)), set(getattr(other, kind))
            found += [f"{kind}: {each}" for each in sorted(mine ^ theirs)]
        return found


async def facts_of(connection: Connection) -> Facts:
    """As the connection's transaction sees them, when it is in one; needs a superuser."""
    owners = list(OWNERS)
    tables = [row["name"] for row in await connection.fetch(_TABLES, owners)]
    rows = {table: await connection.fetchval(_ROWS.format(table)) for table in tables}
    guards = sorted(row[0] for row in await connection.fetch(_GUARDS, owners))
    rights = sorted(row[0] for row in await connection.fetch(_RIGHTS, owners))
    return Facts(rows, guards, rights)
