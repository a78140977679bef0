"""An Agent that adds: the one that the documentation of the client calls."""

import json
from typing import Any

from tests.support.agent import a_message, chosen, data, input_of, method_of
from tests.support.loop import Changes, open_skill
from tests.support.peers import Behaviour, Received
from tests.support.streaming_agent import piece, status, streamed, task

AGENT, CAPABILITY, PERMISSION = "acme:adder", "add", "sums.read"
CARD: dict[str, Any] = {
    "agent_id": AGENT,
    "name": "Adder",
    "skills": [open_skill(CAPABILITY, requiredPermissions=[PERMISSION])],
    "permissions": [{"id": PERMISSION, "description": "Read the numbers."}],
}
CHANGES = Changes(card=CARD)


def _answer(request: Received) -> Behaviour:
    numbers = json.loads(input_of(request))["numbers"]
    sums = [{"sum": sum(numbers[: count + 1])} for count in range(len(numbers))]
    if method_of(request) == "message/send":
        return a_message(data(sums[-1]))
    pieces = [piece(value, number, len(sums)) for number, value in enumerate(sums)]
    return streamed(task(), *pieces, status("completed"))


adding = chosen(_answer)
