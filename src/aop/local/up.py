"""`aop up`: the database, the units and the Agents, then the record and the panel; everything stops together."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aop.base.settings import Secret, SettingProblem, SettingsRefused
from aop.client import Client
from aop.console.site import built_folder
from aop.control_plane.gateway.sign_in import make_operators_code
from aop.control_plane.gateway.tokens import issue_token
from aop.local.ending import on_ending
from aop.local.environment import UNITS, Addresses, LocalSettings, external_databases, local_settings
from aop.local.panel import Panel
from aop.local.platform_units import platform_units
from aop.local.ports import Listeners, store_ports, stored_ports
from aop.local.postgres import EmbeddedPostgres, Login
from aop.local.problems import DatabaseUnusable, LocalProblem
from aop.local.publication import WORKSPACE, SamplePublication
from aop.local.sample_environments import ready_samples
from aop.local.samples import Sample
from aop.local.secrets import LocalSecrets, keep_secrets
from aop.local.state import DatabaseUrls, DataFolder, PublishedAgent, Run, RunRecord
from aop.local.supervisor import EX_CONFIG, UnitSupervisor
from aop.local.terminal import LineTerminal, write_line
from aop.local.unit_logs import UnitLogs
from aop.store.migrations import GROUP_ROLES, OWNER_ROLE, MigrationRefused, migrate
from aop.store.problems import StoreUnavailable

PRINCIPAL = "local"
_DATABASE = "aop"
_PG_BIN = "PLATFORM_PG_BIN"
_NOT_YET = DatabaseUrls(*["postgresql://127.0.0.1/not-yet-started"] * 3)


@dataclass(frozen=True, slots=True)
class UpOptions:
    data: Path
    allow: Sequence[str] = ()
    with_agents: bool = True
    with_console: bool = True
    with_door: bool = True
    development_ports: bool = True
    """Whether Agents may have 127.0.0.1 at the ports where `aop init` places them."""
    workers: int | None = None
    """How many processes each of the Control Plane, the Router and the door has; None for one without a parent."""
    install_samples: bool = False
    """Whether an installed package, which has no environments for them yet, makes some."""


def run_up(options: UpOptions, caller: Mapping[str, str]) -> int:
    """Runs until stopped by a signal (0), a problem (1) or a refused setting (78)."""
    with LineTerminal.standard(caller) as terminal:
        try:
            asyncio.run(_until_stopped(options, caller, terminal))
        except SettingsRefused as refused:
            problems = [f"{problem.name} {problem.reason}" for problem in refused.problems]
            code = EX_CONFIG
        except LocalProblem as problem:
            problems, code = [str(problem)], 1
        else:
            return 0
    for text in problems:
        write_line(f"aop up: {text}", sys.stderr)
    return code


async def _until_stopped(options: UpOptions, caller: Mapping[str, str], terminal: LineTerminal) -> None:
    with DataFolder(options.data) as folder:
        logs = UnitLogs(terminal, folder.log)
        logs.begin_start()
        supervisor = UnitSupervisor(logs)
        platform = asyncio.create_task(_Platform(options, caller, folder, logs, supervisor).run())
        stopped = asyncio.Event()

        def stop() -> None:
            if stopped.is_set():
                supervisor.hurry()
                return
            stopped.set()
            logs.say("stopping (press Ctrl-C again to stop at once)")
            platform.cancel()

        on_ending(stop)
        await asyncio.wait({platform})
        if not platform.cancelled():
            platform.result()
        logs.say("stopped")


@dataclass(frozen=True, slots=True)
class _Platform:
    """One run of the platform on a data folder that is held."""

    options: UpOptions
    caller: Mapping[str, str]
    folder: DataFolder
    logs: UnitLogs
    supervisor: UnitSupervisor
    listeners: Listeners = field(default_factory=Listeners)

    async def run(self) -> None:
        with self.listeners:
            await self._run()

    async def _run(self) -> None:
        secrets, known = keep_secrets(self.folder), stored_ports(self.folder)
        external = external_databases(self.caller)
        ports = self.listeners.choose() if known is None else self.listeners.with_door(known)
        addresses = Addresses.of(ports, self.caller, self.folder.path)
        place = (addresses.agents, self.folder.path, self.caller, self.logs.say)
        installing = self.options.install_samples
        samples = await ready_samples(*place, installing=installing) if self.options.with_agents else []
        # A bad setting is told before anything starts.
        settings = self._settings(addresses, secrets, external or _NOT_YET)
        left_out = {"door": not self.options.with_door, "console": not self._offers_console()}
        names = [name for name in UNITS if not left_out.get(name)]
        users = [(addresses.units[name], UNITS[name].address) for name in names]
        users += [(sample.address, f"sample Agent {sample.name}") for sample in samples]
        self.listeners.open(users, self.folder)
        async with self.supervisor:
            self._begin_agents(settings, samples)
            databases = external or await self._start_postgres(secrets)
            self.logs.say("migrating the database")
            await _bring_to_current_version(databases.migration)
            settings = self._settings(addresses, secrets, databases)
            self.logs.say("starting the Control Plane and the Router")
            for unit in platform_units(names, settings, addresses, self.listeners, self.options.workers):
                self.supervisor.begin(unit)
            await self.supervisor.ready()
            if known != ports:
                store_ports(self.folder, ports)
            await self._serve(settings, databases, samples, names)

    def _offers_console(self) -> bool:
        if self.options.with_console and built_folder() is None:
            self.logs.say("the Console is not built, so it does not start; ./dev up builds it")
            return False
        return self.options.with_console

    def _begin_agents(self, settings: LocalSettings, samples: Sequence[Sample]) -> None:
        """Before all others: they import large frameworks, and to start they need nothing but their settings."""
        if samples:
            self.logs.say(f"starting the sample Agents: {', '.join(sample.name for sample in samples)}")
        credential, router = settings.credential, settings.origins["router"]
        self.supervisor.begin(
            *(
                sample.unit(credential, router, self._proofs(sample), self.caller, self.listeners.of(sample.address))
                for sample in samples
            )
        )

    def _proofs(self, sample: Sample) -> Path:
        """The challenge directory of a sample Agent."""
        proofs = self.folder.path / "proofs" / sample.name
        proofs.mkdir(mode=0o700, parents=True, exist_ok=True)
        return proofs

    def _settings(self, addresses: Addresses, secrets: LocalSecrets, databases: DatabaseUrls) -> LocalSettings:
        options = self.options
        return local_settings(
            addresses, secrets, databases, options.allow, self.caller, development_ports=options.development_ports
        )

    async def _start_postgres(self, secrets: LocalSecrets) -> DatabaseUrls:
        home, log = self.folder.path / "postgres", self.folder.log("postgres")
        postgres = EmbeddedPostgres(home, log, bin_directory=_bin_directory(self.caller))
        self.logs.say("starting PostgreSQL" if home.exists() else "creating a database and starting PostgreSQL")
        await postgres.prepare()
        await self.supervisor.start(postgres.unit())
        logins = {
            "control_plane": Login("aop_local_control_plane", secrets.control_plane_password, ["aop_control_plane"]),
            "router": Login("aop_local_router", secrets.router_password, ["aop_router"]),
            "migration": Login("aop_local_migration", secrets.migration_password, [OWNER_ROLE]),
        }
        await postgres.create_database(_DATABASE, owner=OWNER_ROLE, groups=GROUP_ROLES, logins=list(logins.values()))
        urls = {
            name: postgres.near_url(database=_DATABASE, user=login.name, password=login.password)
            for name, login in logins.items()
        }
        return DatabaseUrls(**urls)

    async def _serve(
        self, settings: LocalSettings, databases: DatabaseUrls, samples: Sequence[Sample], names: Sequence[str]
    ) -> None:
        origins = {name: settings.origins[name] for name in names}
        issued = await issue_token(databases.control_plane, PRINCIPAL, label="aop up", days=1)
        agents = await self._publish(origins["control-plane"], issued.token, samples)
        run = Run(
            gateway=origins["control-plane"],
            router=origins["router"],
            console=origins.get("console"),
            door=origins.get("door"),
            principal=PRINCIPAL,
            token=issued.token.reveal(),
            workspace_id=WORKSPACE if agents else None,
            agents=agents or None,
            allowed=tuple(settings.allow_list),
            router_credential=settings.credential,
            service_tokens=settings.service_tokens,
            database_urls=databases,
            pids={},
        )
        code = (await make_operators_code(databases.control_plane, PRINCIPAL)).code if run.console else None
        Panel(run, settings.allow_list, self.folder.path, samples, code).show(self.logs.terminal)
        self.logs.end_start()
        record = RunRecord(self.folder, run, self.logs.say)
        try:
            await self.supervisor.watch(record.change)
        finally:
            record.forget()

    async def _publish(self, gateway: str, token: Secret, samples: Sequence[Sample]) -> tuple[PublishedAgent, ...]:
        if not samples:
            return ()
        async with Client(gateway, token) as client:
            publication = SamplePublication(client, PRINCIPAL, self.logs.say)
            published = [await publication.publish(sample, self._proofs(sample)) for sample in samples]
            await publication.open_workspace()
            for sample in samples:
                await publication.install(sample)
        return tuple(agent for agent in published if agent is not None)


def _bin_directory(caller: Mapping[str, str]) -> Path | None:
    text = caller.get(_PG_BIN)
    if text is None:
        return None
    if not Path(text).is_absolute():
        raise SettingsRefused([SettingProblem(_PG_BIN, "must be an absolute directory")])
    return Path(text)


async def _bring_to_current_version(database_url: str) -> None:
    try:
        await migrate(database_url)
    except MigrationRefused as refused:
        raise DatabaseUnusable(str(refused)) from None
    except StoreUnavailable as failure:
        raise DatabaseUnusable(
            f"the database of PLATFORM_MIGRATION_DATABASE_URL cannot be reached or refused a statement ({failure})"
        ) from None
