"""The real stack the Console is tested on: `aop up` with its sample Agents, and Agents of a test's own making."""

import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from aop.local.ports import any_free_port
from tests.local.caller import Caller
from tests.support import issuer
from tests.support.platform import LocalPlatform, seed_ports, started_up

Json = dict[str, Any]
_PROOF_PATH = "/.well-known/platform/challenges/"


@dataclass
class ProofServer:
    """An Agent's origin that serves whatever proofs a test tells it to."""

    port: int
    proofs: dict[str, str] = field(default_factory=dict)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}/a2a"


@dataclass(frozen=True)
class Stack:
    platform: LocalPlatform
    console: str
    gateway: str
    token: str
    principal: str
    caller: Caller
    proof_server: ProofServer
    silent_port: int
    """Allowed, and nobody listens there."""
    issuer_port: int
    """Where the configured OpenID provider runs, in tests that start it."""
    provider: str = "aop"

    def sign_in_code(self) -> str:
        return str(self._made("/v1/me/sign-in-codes")["code"])

    def sign_in_link(self, path: str = "/") -> str:
        return f"{self.console}{path}#code={self.sign_in_code()}"

    def workspace(self, name: str = "space") -> str:
        """A new Workspace with a name of its own."""
        workspace_id = f"{name}-{uuid.uuid4().hex[:8]}"
        self._made("/v1/workspaces", {"workspaceId": workspace_id})
        return workspace_id

    def agent_id(self, name: str = "agent") -> str:
        return f"test:{name}-{uuid.uuid4().hex[:8]}"

    def install(self, workspace_id: str, agent_id: str, permissions: list[str], constraint: str = "*") -> Json:
        body = {"agentId": agent_id, "versionConstraint": constraint, "acceptedPermissions": permissions}
        return self._made(f"/v1/workspaces/{workspace_id}/installations", body)

    def invoke(self, workspace_id: str, agent_id: str, capability: str, skill_input: Any) -> Json:
        body = {"agentId": agent_id, "capability": capability, "input": skill_input, "stream": False}
        reply = self.caller.post(f"/v1/workspaces/{workspace_id}/invocations", body)
        answer: Json = reply.json
        return answer

    def register(self, **members: Any) -> Json:
        return self._made("/v1/agents", a_card(self, **members))

    def bind(self, agent_id: str, version: str = "1.0.0", endpoint: str | None = None) -> Json:
        bound = {"endpoint": endpoint or self.proof_server.endpoint, "method": "http_well_known", "version": version}
        return self._made(f"/v1/providers/{self.provider}/agents/{agent_id}/endpoint-bindings", bound)

    def publish(self, **members: Any) -> Json:
        """Register, prove, release and publish; the Release."""
        entry = self.register(**members)
        agent_id, version = entry["agentId"], entry["version"]
        binding = self.bind(agent_id, version)
        challenges = f"/v1/providers/{self.provider}/endpoint-bindings/{binding['bindingId']}/challenges"
        challenge = self._made(challenges)
        self.proof_server.proofs[challenge["challengeId"]] = challenge["proof"]
        self._made(f"{challenges}/{challenge['challengeId']}/complete")
        wanted = {"version": version, "endpointBindingId": binding["bindingId"]}
        release = self._made(f"/v1/providers/{self.provider}/agents/{agent_id}/releases", wanted)
        return self._made(f"/v1/releases/{release['releaseId']}/publish")

    def _made(self, path: str, body: Any = None) -> Json:
        reply = self.caller.post(path, body)
        assert reply.status in {200, 201}, reply.body
        made: Json = reply.json
        return made


def a_card(stack: Stack, **members: Any) -> Json:
    """A Card that can be registered; members of the top level are replaced as told."""
    skill = {
        "id": "summarize",
        "name": "Summarize",
        "description": "Shortens a text to its main points.",
        "inputSchema": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}},
        "outputSchema": {"type": "object", "properties": {"summary": {"type": "string"}}},
        "requiredPermissions": ["text.read"],
    }
    return {
        "schemaVersion": "0.2",
        "agentId": stack.agent_id(),
        "name": "Test Agent",
        "description": "Exists for a test.",
        "owner": {"id": stack.principal, "displayName": "Test Owner"},
        "version": "1.0.0",
        "protocol": {
            "type": "a2a",
            "version": "0.3.0",
            "transport": "JSONRPC",
            "endpoint": stack.proof_server.endpoint,
        },
        "skills": [skill],
        "authentication": {"type": "http_bearer"},
        "permissions": [{"id": "text.read", "description": "Reads the text it is given."}],
        "limits": {"timeoutMs": 30000, "maxInputBytes": 65536, "maxOutputBytes": 65536, "streaming": True},
        **members,
    }


@contextmanager
def running_stack(folder: Path) -> Iterator[Stack]:
    data = folder / "data"
    seed_ports(data)
    silent, issuer_port = any_free_port(), any_free_port()
    with (
        running_proof_server() as proofs,
        started_up(data, *_allowed(proofs.port, silent), settings=issuer.settings(issuer_port)) as platform,
    ):
        platform.wait_ready()
        run = platform.run
        assert "console" in run, f"the Console does not run:\n{platform.output}"
        caller = Caller(run["gateway"], run["token"])
        names = (run["console"], run["gateway"], run["token"], run["principal"])
        yield Stack(platform, *names, caller, proofs, silent, issuer_port)
        assert platform.stop() == 0


def _allowed(*ports: int) -> list[str]:
    return [option for port in ports for option in ("--allow", f"127.0.0.1:{port}")]


@contextmanager
def running_proof_server() -> Iterator[ProofServer]:
    proofs = ProofServer(any_free_port())

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            proof = proofs.proofs.get(self.path.removeprefix(_PROOF_PATH))
            body = (proof or "").encode()
            self.send_response(200 if proof is not None else 404)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", proofs.port), Answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield proofs
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def sample_card(name: str) -> Json:
    card: Json = json.loads((Path(__file__).resolve().parents[2] / "agents" / name / "card.json").read_bytes())
    return card
