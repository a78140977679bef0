"""The pages for operators, followed on one machine: secrets, store, units, first token, replacement of secrets."""

import asyncio
import hashlib
import json
import os
import shlex
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import SIGTERM

import asyncpg
import pytest

from aop.local.ports import any_free_port
from aop.local.postgres import EmbeddedPostgres
from tests.docs.blocks import ROOT, Block, blocks_of
from tests.docs.deployments import Unit, compose_units, settings_file
from tests.support.publication import process_on
from tests.support.replicas import Replica
from tests.support.waiting import PATIENCE_SECONDS

SCALE, OPERATE, ROTATE = (ROOT / "docs" / name for name in ("guides/scale.md", "operations.md", "guides/rotate.md"))
LISTEN = {"control-plane": "PLATFORM_LISTEN_ADDRESS", "router": "PLATFORM_ROUTER_LISTEN_ADDRESS"}
TOKEN, PRINCIPALS = "PLATFORM_ROUTER_INTERNAL_BEARER_TOKEN", "PLATFORM_ROUTER_SERVICE_PRINCIPALS_JSON"


@dataclass(frozen=True)
class Deployment:
    folder: Path
    server: EmbeddedPostgres
    control_plane: Replica
    router: Replica

    async def status_of_router(self, token: str) -> int:
        return (await self.router.unit.get("/internal/v1/status", token=token)).status


def page_block(page: Path, holds: str) -> Block:
    """The one block of the page with these words."""
    (block,) = [block for block in blocks_of(page) if holds in block.text]
    return block


def followed(text: str, folder: Path, server: EmbeddedPostgres) -> str:
    """What a shell in that folder writes, with the addresses of this machine in place of those of the page."""
    places = {
        "db.internal:5432": f"127.0.0.1:{server.port}",
        "postgresql://admin@db.internal/postgres": server.url(database="postgres"),
        "deploy/make_secrets.py": str(ROOT / "deploy" / "make_secrets.py"),
        "deploy/systemd": str(ROOT / "deploy" / "systemd"),
        "/opt/aop/bin/python": sys.executable,
        "/etc/aop": str(folder / "etc"),
        "/etc/systemd/system": str(folder / "services"),
    }
    for written, real in places.items():
        text = text.replace(written, real)
    aop = f'aop() {{ {shlex.quote(sys.executable)} -m aop "$@"; }}\n'
    path = f"{os.defpath}:/usr/local/bin"
    done = subprocess.run(
        ["/bin/bash", "-c", f"set -e -u\nSECRETS=secrets\n{aop}{text}"],
        cwd=folder,
        env={"PATH": path, "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@asynccontextmanager
async def deployed(folder: Path) -> AsyncIterator[Deployment]:
    """Steps 2 to 4 of the guide, with one Control Plane and one Router that call each other directly."""
    async with AsyncExitStack() as opened:
        server = await opened.enter_async_context(
            EmbeddedPostgres(folder / "postgres", folder / "postgres.log", settings={"fsync": "off"})
        )
        for step in ("make_secrets.py", "logins.sql"):
            await asyncio.to_thread(followed, page_block(SCALE, step).text, folder, server)
        units = {unit.kind: unit for unit in compose_units(folder / "secrets")}
        first, second = [await replica(opened, units[kind], folder) for kind in ("control-plane", "router")]
        first.settings["PLATFORM_ROUTER_INTERNAL_ORIGIN"] = second.unit.origin
        second.settings["PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN"] = first.unit.origin
        await asyncio.gather(first.start(), second.start())
        await asyncio.gather(first.ready(), second.ready())
        yield Deployment(folder, server, first, second)


async def replica(opened: AsyncExitStack, unit: Unit, folder: Path) -> Replica:
    running = await opened.enter_async_context(process_on(any_free_port()))
    settings = {**unit.settings, LISTEN[unit.kind]: f"127.0.0.1:{running.port}"}
    made = Replica(unit.kind, running, settings, folder / f"{unit.kind}.log")
    opened.push_async_callback(made.kill)
    return made


async def restarted(unit: Replica) -> None:
    unit.send(SIGTERM)
    assert await unit.ended() == 0
    await unit.restart()


@pytest.mark.long
async def test_the_steps_of_the_guide_work_in_their_order_and_secrets_are_replaced_on_running_units(
    tmp_path: Path,
) -> None:
    async with deployed(tmp_path) as deployment:
        await the_files_are_installed_for_systemd(deployment)
        await tokens_are_made_and_the_ledger_is_checked(deployment)
        await both_service_tokens_are_valid_until_the_old_one_is_removed(deployment)
        await units_move_to_a_second_login_and_the_first_is_dropped(deployment)


async def the_files_are_installed_for_systemd(deployment: Deployment) -> None:
    commands = [line for line in page_block(SCALE, "systemctl enable").text.splitlines() if line.startswith("install ")]
    await asyncio.to_thread(followed, "\n".join(commands), deployment.folder, deployment.server)
    for name in ("migration.env", "control-plane.env", "router.env"):
        assert settings_file(deployment.folder / "etc" / name) == settings_file(deployment.folder / "secrets" / name)
    named = {path.name for path in (deployment.folder / "services").iterdir()}
    assert {"aop-control-plane@.service", "aop-router@.service", "aop-migrate.service"} <= named


async def tokens_are_made_and_the_ledger_is_checked(deployment: Deployment) -> None:
    create = page_block(SCALE, "--label first").text.splitlines()[0]
    token = (await asyncio.to_thread(followed, create, deployment.folder, deployment.server)).split()[-1]
    assert (await deployment.control_plane.unit.get("/v1/me", token=token)).status == 200
    secrets = deployment.folder / "secrets"
    again = page_block(OPERATE, "pg_restore").text.splitlines()[-1]
    assert "already" in await asyncio.to_thread(followed, again, secrets, deployment.server)
    checked = await asyncio.to_thread(followed, page_block(OPERATE, "ledger check").text, secrets, deployment.server)
    assert checked.rstrip().endswith(("every invariant holds", "there is no Invocation to check"))


async def both_service_tokens_are_valid_until_the_old_one_is_removed(deployment: Deployment) -> None:
    old, (new, digest) = deployment.control_plane.settings[TOKEN], await new_token(deployment)
    entries = json.loads(deployment.router.settings[PRINCIPALS])
    written = settings_line(page_block(ROTATE, PRINCIPALS).text)
    both = written.replace("<old hash>", entries[0]["tokenSha256"]).replace("<new hash>", digest)
    deployment.router.settings[PRINCIPALS] = both  # 1
    await restarted(deployment.router)
    assert [await deployment.status_of_router(token) for token in (old, new)] == [200, 200]
    deployment.control_plane.settings[TOKEN] = new  # 2
    await restarted(deployment.control_plane)
    deployment.router.settings[PRINCIPALS] = json.dumps(json.loads(both)[1:])  # 3
    await restarted(deployment.router)
    assert [await deployment.status_of_router(token) for token in (old, new)] == [403, 200]


def settings_line(text: str) -> str:
    """The value of a line of settings, without its quotes."""
    return text.partition("=")[2].strip("'")


async def new_token(deployment: Deployment) -> tuple[str, str]:
    """The token and its hash, as the page makes them."""
    script = page_block(ROTATE, "NEW=").text + '\necho "$NEW"'
    digest, _, token = (await asyncio.to_thread(followed, script, deployment.folder, deployment.server)).split()
    assert digest == hashlib.sha256(token.encode()).hexdigest()
    return token, digest


async def units_move_to_a_second_login_and_the_first_is_dropped(deployment: Deployment) -> None:
    settings, name = deployment.control_plane.settings, "PLATFORM_DATABASE_URL"
    connection = await asyncpg.connect(deployment.server.url(database="aop"))
    try:
        await connection.execute(page_block(ROTATE, "CREATE ROLE").text)
        settings[name] = f"postgresql://aop_control_plane_2:a-new-one@{settings[name].rpartition('@')[2]}"
        await restarted(deployment.control_plane)
        count, drop = page_block(ROTATE, "DROP ROLE").text.splitlines()
        assert await connection.fetchval(count) == 0
        await connection.execute(drop)
        await restarted(deployment.control_plane)
        *_, change = page_block(ROTATE, "ALTER ROLE aop_migration").text.splitlines()
        await connection.execute(change)
        *_, leaked = page_block(ROTATE, "pg_terminate_backend").text.replace("plane_1", "plane_2").splitlines()
        assert await connection.fetch(leaked)
        await deployment.control_plane.ready()
    finally:
        await connection.close()
