"""The port that an Agent needs, and who has it."""

from aop.agent.a2a_address import AgentNotFound, find_agent
from aop.cli.problems import CommandProblem
from aop.local.port_holder import port_holder
from aop.local.ports import is_taken
from aop.net.address_settings import ListenAddress

_ASKING_SECONDS = 3.0


async def require_port(address: ListenAddress, agent_id: str) -> None:
    """Ends the command when somebody else listens there; the problem says who."""
    if is_taken(address):
        try:
            found = (await find_agent(address.origin, seconds=_ASKING_SECONDS)).card.agent_id
        except AgentNotFound:
            found = ""
        raise CommandProblem(
            f"{address.host}:{address.port} is taken by {holder_of(address.port, found, agent_id)}",
            code="port_taken",
            recovery="stop it there, or write another port in `protocol.endpoint` of the Card",
        )


def holder_of(port: int, answers: str, agent_id: str) -> str:
    """`answers` is the id of the Agent that answers there, if it says so; `agent_id` that of the one that should."""
    process = port_holder(port)
    if not answers:
        return process or "another program"
    agent = "this Agent, which runs already" if answers == agent_id else f"another Agent: {answers}"
    return agent if process is None else f"{process}, {agent}"
