"""The port that an Agent needs, and who has it."""

from collections.abc import Iterator

from aop.agent.check.a2a_address import AgentNotFound, find_agent
from aop.cli.shell.destination import LocalPlatform
from aop.cli.shell.problems import CommandProblem
from aop.local.port_holder import port_holder
from aop.local.ports import DEVELOPMENT_PORTS, is_free, is_taken
from aop.net.address_settings import ListenAddress
from aop.net.policy import AllowList

_ASKING_SECONDS = 3.0
_HOST = "127.0.0.1"


async def require_port(address: ListenAddress, agent_id: str) -> None:
    """Ends the command when somebody else listens there; the problem says who."""
    if is_taken(address):
        raise await port_taken(
            address, agent_id, "stop it there, or write another port in `protocol.endpoint` of the Card"
        )


async def port_taken(address: ListenAddress, agent_id: str, recovery: str) -> CommandProblem:
    try:
        found = (await find_agent(address.origin, seconds=_ASKING_SECONDS)).card.agent_id
    except AgentNotFound:
        found = ""
    return CommandProblem(
        f"{address.host}:{address.port} is taken by {holder_of(address.port, found, agent_id)}",
        code="port_taken",
        recovery=recovery,
    )


def free_addresses(local: LocalPlatform | None) -> Iterator[ListenAddress]:
    """Where an Agent may listen for the local platform, each looked at when it is asked for."""
    allowed = AllowList.parse(() if local is None else local.run.allowed)
    ports = [port for port in DEVELOPMENT_PORTS if allowed.holds(_HOST, port)] or DEVELOPMENT_PORTS
    return (address for port in ports if is_free(address := ListenAddress(_HOST, port)))


def holder_of(port: int, answers: str, agent_id: str) -> str:
    """`answers` is the id of the Agent that answers there, if it says so; `agent_id` that of the one that should."""
    process = port_holder(port)
    if not answers:
        return process or "another program"
    agent = "this Agent, which runs already" if answers == agent_id else f"another Agent: {answers}"
    return agent if process is None else f"{process}, {agent}"
