"""Uses the Python client that openapi-python-client made: `call.py FOLDER GATEWAY WORKSPACE AGENT SKILL`."""

import importlib
import json
import os
import sys
from pathlib import Path


def main(folder: Path, gateway: str, workspace: str, agent: str, skill: str) -> None:
    """Lists what is installed, makes one call, one that is refused, and reads one stream."""
    sys.path.insert(0, str(folder.parent))
    made = importlib.import_module(folder.name)
    models = importlib.import_module(f"{folder.name}.models")
    list_installations = importlib.import_module(f"{folder.name}.api.installations.list_installations")
    invoke_agent = importlib.import_module(f"{folder.name}.api.invocations.invoke_agent")

    def request(capability: str, *, stream: bool):
        return models.InvocationRequest(agent_id=agent, capability=capability, input_={}, stream=stream)

    token = os.environ["AOP_TOKEN"]
    with made.AuthenticatedClient(base_url=gateway, token=token, raise_on_unexpected_status=True) as client:
        page = list_installations.sync(workspace, client=client)
        say("installed", [[item.agent_name, len(item.skills)] for item in page.items])
        say("result", invoke_agent.sync(workspace, client=client, body=request(skill, stream=False)).result)
        refused = invoke_agent.sync_detailed(workspace, client=client, body=request("no-such-skill", stream=False))
        say("refused", [refused.status_code, refused.parsed.code, refused.parsed.reason])
        # The generated call reads whole answers, so a stream is read by the HTTP client that it would use.
        call = invoke_agent._get_kwargs(workspace, body=request(skill, stream=True))
        with client.get_httpx_client().stream(**call) as answer:
            for line in answer.iter_lines():
                if line.startswith("data: "):
                    event = json.loads(line.removeprefix("data: "))
                    say(event["type"], event.get("chunk"))


def say(what: str, value: object) -> None:
    print(json.dumps([what, value]), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
