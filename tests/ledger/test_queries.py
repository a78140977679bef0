"""Statements in .sql files: each has a name, a sentence and a module beside it, and PostgreSQL can prepare it."""

from pathlib import Path

import asyncpg

import aop.ledger
from aop.local.state import DatabaseUrls
from aop.store.queries import queries_beside

FILES = sorted(Path(aop.ledger.__file__).parent.rglob("*.sql"))


async def test_each_statement_has_a_sentence_and_a_module_and_can_be_prepared(stores: DatabaseUrls) -> None:
    connection = await asyncpg.connect(stores.router)
    try:
        for file in FILES:
            module = file.with_suffix(".py")
            assert module.is_file()
            queries = queries_beside(str(module))
            assert len(queries) == file.read_text("utf-8").count("-- name: ") > 0
            for name, query in queries.items():
                assert name in module.read_text("utf-8"), f"{module} does not run {name}"
                await connection.prepare(query)
    finally:
        await connection.close()
    assert FILES
