"""One Agent behind a running platform: started, published and installed, and ready to be called."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aop.client import Client, proof_folder
from aop.local.state import Run, load_run
from interop.calls import SKILL, WORKSPACE, Calls
from interop.frameworks import VERSION, Framework, Way
from interop.running import Ports, Program, front_settings, guard_settings, running_agent, running_front
from tests.support.platform import seed_ports, started_up

TIMEOUT_MS = 6_000


@dataclass(frozen=True)
class Session:
    """A platform that allows the ports of these Agents, and a caller of it."""

    run: Run
    client: Client
    folder: Path
    ports: dict[str, Ports]

    @asynccontextmanager
    async def installed(self, framework: Framework) -> AsyncIterator[Calls]:
        folder, ports = self.folder / framework.name, self.ports[framework.name]
        proofs = folder / "proofs"
        proofs.mkdir(parents=True)
        with ExitStack() as stack:
            program = await asyncio.to_thread(self._start, framework, ports, folder, proofs, stack)
            card = card_for(framework, ports.public, self.run.principal)
            await self.client.publish(card, proofs=proof_folder(proofs))
            await self.client.install_agent(WORKSPACE, framework.agent_id, "^1.0.0", accepted_permissions=[])
            yield Calls(self.client, framework.agent_id, program)

    def _start(self, framework: Framework, ports: Ports, folder: Path, proofs: Path, stack: ExitStack) -> Program:
        """The framework's own process; its front, if it has one, is started after it."""
        ours = guard_settings(self.run.router_credential, self.run.router, ports.public, proofs)
        if framework.way is Way.GUARD:
            return stack.enter_context(running_agent(framework, ports.framework, folder, ours))
        program = stack.enter_context(running_agent(framework, ports.framework, folder, {}))
        (folder / "card.json").write_text(json.dumps(card_for(framework, ports.public, self.run.principal)))
        settings = front_settings(framework, ports, self.run.router_credential, proofs)
        (folder / "front.json").write_text(json.dumps(settings))
        stack.enter_context(running_front(folder / "front.json", ports.public))
        return program


@asynccontextmanager
async def started_session(
    frameworks: Sequence[Framework], folder: Path, *, door: bool = False
) -> AsyncIterator[Session]:
    """A platform of its own, perhaps with a door, which may reach these Agents, and an empty Workspace in it."""
    ports = {framework.name: Ports.free(framework) for framework in frameworks}
    allowed = [option for one in ports.values() for option in ("--allow", f"127.0.0.1:{one.public}")]
    left_out = ["--no-console", "--no-agents", *([] if door else ["--no-door"])]
    data = folder / "platform"
    seed_ports(data)
    with started_up(data, *left_out, *allowed) as platform:
        platform.wait_ready()
        run = load_run(data)
        async with Client(run.gateway, run.token) as client:
            await client.create_workspace(WORKSPACE)
            yield Session(run, client, folder, ports)
        platform.stop()


def card_for(framework: Framework, port: int, owner: str) -> dict[str, Any]:
    """A Card whose Skill takes a text and gives anything: what a framework wraps its text in is its own affair."""
    skill = {
        "id": SKILL,
        "name": "Chat",
        "description": "Answers a text.",
        "inputSchema": {"type": "string"},
        "outputSchema": {},
        "requiredPermissions": [],
    }
    limits = {
        "timeoutMs": TIMEOUT_MS,
        "maxInputBytes": 65_536,
        "maxOutputBytes": 262_144,
        "streaming": framework.streams,
    }
    endpoint = f"http://127.0.0.1:{port}{framework.public_path}"
    return {
        "schemaVersion": "0.2",
        "agentId": framework.agent_id,
        "name": framework.name,
        "description": f"An Agent on {framework.package}.",
        "owner": {"id": owner, "displayName": "Interoperability"},
        "version": VERSION,
        "protocol": {"type": "a2a", "version": "0.3.0", "transport": "JSONRPC", "endpoint": endpoint},
        "skills": [skill],
        "authentication": {"type": "http_bearer"},
        "permissions": [],
        "limits": limits,
    }
