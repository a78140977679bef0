"""Statements in .sql files: each has a name, a sentence and a module beside it, and PostgreSQL can prepare it."""

from pathlib import Path

import asyncpg

import aop
from aop.local.state import DatabaseUrls
from aop.store.queries import queries_beside

FOLDER = Path(aop.__file__).parent
FILES = sorted(FOLDER.rglob("*.sql"))


async def test_each_statement_has_a_sentence_and_a_module_and_can_be_prepared(stores: DatabaseUrls) -> None:
    connections = {
        "ledger": await asyncpg.connect(stores.router),
        "control_plane": await asyncpg.connect(stores.control_plane),
    }
    try:
        for file in FILES:
            connection = connections[file.relative_to(FOLDER).parts[0]]
            module = file.with_suffix(".py")
            assert module.is_file()
            queries = queries_beside(str(module))
            assert len(queries) == file.read_text("utf-8").count("-- name: ") > 0
            for name, query in queries.items():
                assert name in module.read_text("utf-8"), f"{module} does not run {name}"
                await connection.prepare(query)
    finally:
        for connection in connections.values():
            await connection.close()
    assert FILES
