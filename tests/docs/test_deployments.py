"""The deployments in deploy/ fit the units: every setting is read, ports and names meet, drains can end."""

import asyncio
import re
import stat
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from aop.agent.guard.settings import AgentSettings
from aop.base.settings import SettingsRefused, database_url
from aop.console.settings import read_console_settings
from aop.control_plane.settings import read_control_plane_settings
from aop.door.settings import GATEWAY_ORIGIN, read_door_settings
from aop.local.ports import any_free_port
from aop.local.postgres import EmbeddedPostgres
from aop.router.settings import read_router_settings
from tests.docs.deployments import (
    DEPLOY,
    Unit,
    compose,
    compose_units,
    kubernetes_units,
    make_secrets,
    of_kind,
    run,
    settings_file,
    systemd_units,
    workloads,
)
from tests.support.publication import process_on
from tests.support.replicas import Replica
from tools.docs_settings import asked_for

READERS: Mapping[str, Callable[[Mapping[str, str]], Any]] = {
    "control-plane": read_control_plane_settings,
    "router": read_router_settings,
    "console": read_console_settings,
    "door": read_door_settings,
    "migrate": lambda settings: database_url(settings["PLATFORM_MIGRATION_DATABASE_URL"]),
}
INTERNAL_ORIGINS = ("PLATFORM_ROUTER_INTERNAL_ORIGIN", "PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN", GATEWAY_ORIGIN)
DEPLOYMENTS = {"compose": compose_units, "kubernetes": kubernetes_units, "systemd": systemd_units}


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deployment") / "secrets"
    made = make_secrets(folder, "db.internal:5432/aop")
    assert made.returncode == 0, made.stderr
    assert made.stdout.split() == [
        str(path) for path in sorted(folder.iterdir(), key=lambda path: path.stat().st_ctime_ns)
    ]
    return folder


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_every_unit_reads_its_settings_and_nothing_else(name: str, secrets: Path) -> None:
    units = list(DEPLOYMENTS[name](secrets))
    assert {unit.kind for unit in units} == set(READERS)
    for unit in units:
        READERS[unit.kind](unit.settings)
        assert set(unit.settings) <= _setting_names(unit.kind), unit.place


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_a_unit_that_lacks_a_secret_does_not_start(name: str, secrets: Path) -> None:
    for unit in DEPLOYMENTS[name](secrets):
        if unit.kind in {"control-plane", "router"}:
            kept = set(settings_file(secrets / f"{unit.kind}.env"))
            with pytest.raises(SettingsRefused) as refused:
                READERS[unit.kind]({key: value for key, value in unit.settings.items() if key not in kept})
            assert {problem.name for problem in refused.value.problems} == kept


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_there_are_several_of_each_and_routers_differ_in_nothing_but_their_names(name: str, secrets: Path) -> None:
    units = list(DEPLOYMENTS[name](secrets))
    assert sum(unit.kind == "control-plane" for unit in units) >= 2
    routers = [read_router_settings(unit.settings) for unit in units if unit.kind == "router"]
    assert len({router.router_id for router in routers}) == len(routers) >= 2
    shared = {(router.agent_origin, router.credential.issuer, router.credential.key_id) for router in routers}
    assert len(shared) == 1


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_the_console_the_gateway_and_the_routers_agree_on_public_names(name: str, secrets: Path) -> None:
    units = {unit.kind: unit for unit in DEPLOYMENTS[name](secrets)}
    gateway = read_control_plane_settings(units["control-plane"].settings)
    console = read_console_settings(units["console"].settings)
    assert gateway.public_agent_origin == console.public_agent_origin
    assert gateway.cors_allowed_origins == (console.public_agent_origin,)
    balancer = (DEPLOY / "balancer.conf").read_text("utf-8")
    for origin in (
        console.api_base_url,
        console.public_agent_origin,
        read_router_settings(units["router"].settings).agent_origin,
        read_door_settings(units["door"].settings).origin,
    ):
        assert f"server_name {origin.removeprefix('https://')};" in balancer


def test_an_agent_can_believe_the_routers(secrets: Path, tmp_path: Path) -> None:
    routers = next(unit for unit in compose_units(secrets) if unit.kind == "router")
    settings = {
        **settings_file(secrets / "agents.env"),
        "PLATFORM_AGENT_ROUTER_ISSUER": routers.settings["PLATFORM_ROUTER_AGENT_CREDENTIAL_ISSUER"],
        "PLATFORM_AGENT_ROUTER_KEY_ID": routers.settings["PLATFORM_ROUTER_AGENT_CREDENTIAL_KEY_ID"],
        "PLATFORM_AGENT_ROUTER_AUDIENCE": "https://agent.example.com",
        "PLATFORM_AGENT_CHALLENGE_DIRECTORY": str(tmp_path),
    }
    key = read_router_settings(routers.settings).credential.private_key
    assert AgentSettings.from_environment(settings).trust.public_key.confirms(b"text", key.sign(b"text"))


def test_secrets_are_readable_by_their_maker_alone_and_never_overwritten(secrets: Path) -> None:
    assert {stat.S_IMODE(path.stat().st_mode) for path in secrets.iterdir()} == {0o600}
    before = {path: path.read_text() for path in secrets.iterdir()}
    assert make_secrets(secrets, "db.internal:5432/aop").returncode == 1
    assert {path: path.read_text() for path in secrets.iterdir()} == before


def test_every_way_of_stopping_leaves_time_for_the_drain(secrets: Path) -> None:
    ends = [
        stopping.drain_seconds + stopping.grace_seconds
        for units in DEPLOYMENTS.values()
        for unit in units(secrets)
        if unit.kind in {"control-plane", "router", "door"}
        for stopping in [READERS[unit.kind](unit.settings).serving.stopping]
    ]
    services = compose()["services"]
    waits = [services[name]["stop_grace_period"].removesuffix("s") for name in ("control-plane-1", "router-1", "door")]
    workloads_of = {**of_kind("Deployment"), **of_kind("StatefulSet")}
    for name in ("control-plane", "router", "door"):
        pod = workloads_of[name]["spec"]["template"]["spec"]
        before = pod["containers"][0]["lifecycle"]["preStop"]["exec"]["command"]
        assert before[0] == "sleep"
        waits += [pod["terminationGracePeriodSeconds"] - int(before[1])]
    for unit in ("aop-control-plane@", "aop-router@", "aop-door"):
        waits += re.findall(r"TimeoutStopSec=(\d+)", (DEPLOY / "systemd" / f"{unit}.service").read_text("utf-8"))
    assert len(waits) == 9
    assert all(int(wait) >= max(ends) + 10 >= 45 for wait in waits)


def test_the_balancer_sends_to_the_ports_on_which_the_units_listen(secrets: Path) -> None:
    balancer = (DEPLOY / "balancer.conf").read_text("utf-8")
    places = dict(re.findall(r"(?:server|proxy_pass) (?:http://)?([\w-]+):(\d+)", balancer))
    listening = {unit.place.split()[1]: _port(unit) for unit in compose_units(secrets) if unit.kind != "migrate"}
    assert places == listening
    aliases = compose()["services"]["balancer"]["networks"]["default"]["aliases"]
    for unit in compose_units(secrets):
        for name in INTERNAL_ORIGINS:
            if name in unit.settings:
                host, port = unit.settings[name].removeprefix("http://").split(":")
                assert host in aliases
                assert f"listen {port};" in balancer


def test_the_balancer_waits_longer_than_an_invocation_and_never_sends_twice() -> None:
    balancer = (DEPLOY / "balancer.conf").read_text("utf-8")
    annotations = of_kind("Ingress")["aop"]["metadata"]["annotations"]
    prefix = "nginx.ingress.kubernetes.io/proxy-"
    assert "proxy_read_timeout 330s;" in balancer
    assert int(annotations[f"{prefix}read-timeout"]) >= 300 + 15
    assert re.findall(r"^proxy_next_upstream (.*);$", balancer, re.MULTILINE) == ["off"]
    assert annotations[f"{prefix}next-upstream"] == "off"
    assert "proxy_buffering off;" in balancer
    assert annotations[f"{prefix}buffering"] == "off"


def test_kubernetes_objects_refer_to_each_other(secrets: Path) -> None:
    services, labels, ports = of_kind("Service"), set[str](), dict[str, int]()
    for workload in workloads():
        template = workload["spec"]["template"]
        app = template["metadata"]["labels"]["app"]
        labels.add(app)
        container = template["spec"]["containers"][0]
        if workload["kind"] == "Job":
            continue
        assert workload["spec"]["selector"]["matchLabels"] == {"app": app}
        ports[app] = container["ports"][0]["containerPort"]
        for probe, path in (("livenessProbe", "/livez"), ("readinessProbe", "/readyz")):
            assert container[probe]["httpGet"] == {"path": path, "port": container["ports"][0]["name"]}
    assert {service["spec"]["selector"]["app"] for service in services.values()} == set(ports)
    assert of_kind("StatefulSet")["router"]["spec"]["serviceName"] in services
    for service in services.values():
        assert service["spec"]["ports"][0]["port"] == ports[service["spec"]["selector"]["app"]]
    for unit in kubernetes_units(secrets):
        if unit.kind != "migrate":
            assert int(_port(unit)) == ports[unit.kind]
        for name in INTERNAL_ORIGINS:
            if name in unit.settings:
                host, port = unit.settings[name].removeprefix("http://").split(":")
                assert services[host]["spec"]["ports"][0]["port"] == int(port)
    for rule in of_kind("Ingress")["aop"]["spec"]["rules"]:
        assert rule["http"]["paths"][0]["backend"]["service"]["name"] in services


@pytest.mark.long
async def test_the_units_of_compose_become_ready_on_an_empty_database(tmp_path: Path) -> None:
    async with AsyncExitStack() as opened:
        server = await opened.enter_async_context(
            EmbeddedPostgres(tmp_path / "postgres", tmp_path / "postgres.log", settings={"fsync": "off"})
        )
        assert make_secrets(tmp_path / "secrets", f"127.0.0.1:{server.port}/aop").returncode == 0
        await _execute(server.url(database="postgres"), (tmp_path / "secrets" / "logins.sql").read_text())
        units = [unit for unit in compose_units(tmp_path / "secrets") if unit.kind not in {"console", "door"}]
        migration = next(unit for unit in units if unit.kind == "migrate")
        migrated = await asyncio.to_thread(run, "-m", *migration.command, **migration.settings)
        assert migrated.returncode == 0, migrated.stderr
        replicas = [await _replica(opened, unit, tmp_path) for unit in units if unit.kind != "migrate"]
        _introduce(replicas)
        for kind in ("control-plane", "router"):
            chosen = [replica for replica in replicas if replica.name == kind]
            await asyncio.gather(*(replica.start() for replica in chosen))
            await asyncio.gather(*(replica.ready() for replica in chosen))


async def _replica(opened: AsyncExitStack, unit: Unit, folder: Path) -> Replica:
    running = await opened.enter_async_context(process_on(any_free_port()))
    address = "PLATFORM_LISTEN_ADDRESS" if unit.kind == "control-plane" else "PLATFORM_ROUTER_LISTEN_ADDRESS"
    settings = {**unit.settings, address: f"127.0.0.1:{running.port}"}
    replica = Replica(unit.kind, running, settings, folder / f"{unit.place}.log")
    opened.push_async_callback(replica.kill)
    return replica


def _introduce(replicas: list[Replica]) -> None:
    """In place of the balancer: the first Control Plane and the first Router know each other, and so the second."""
    gateways = [replica for replica in replicas if replica.name == "control-plane"]
    routers = [replica for replica in replicas if replica.name == "router"]
    for gateway, router in zip(gateways, routers, strict=True):
        gateway.settings["PLATFORM_ROUTER_INTERNAL_ORIGIN"] = router.unit.origin
        router.settings["PLATFORM_CONTROL_PLANE_INTERNAL_ORIGIN"] = gateway.unit.origin


async def _execute(url: str, statements: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        for statement in filter(None, statements.split("\n")):
            await connection.execute(statement)
    finally:
        await connection.close()


def _port(unit: Unit) -> str:
    return next(value for name, value in unit.settings.items() if name.endswith("LISTEN_ADDRESS")).rpartition(":")[2]


def _setting_names(kind: str) -> set[str]:
    if kind == "migrate":
        return {"PLATFORM_MIGRATION_DATABASE_URL"}
    return {setting.name for setting in asked_for(lambda: READERS[kind]({}))}
