"""What to try on a platform that just became ready: commands to paste into another terminal, in this order."""

import shlex
from collections.abc import Sequence

import msgspec

from aop.contracts.card import Skill
from aop.local.samples import Sample
from aop.local.state import Run

_CURL = 'curl -sS -H "Authorization: Bearer $TOKEN"'
_JSON = "-H 'Content-Type: application/json'"
_EVENTS = "-N -H 'Accept: text/event-stream'"

Row = tuple[str, str]


class _Examples(msgspec.Struct, frozen=True):
    examples: tuple[msgspec.Raw, ...] = ()


def suggestions(run: Run, samples: Sequence[Sample]) -> list[Row]:
    tried = next(((sample, skill, example) for sample in samples for skill, example in _examples(sample)), None)
    if run.workspace_id is None or tried is None:
        return [("try", f"curl {run.gateway}/readyz")]
    sample, skill, example = tried
    workspace = f"{run.gateway}/v1/workspaces/{run.workspace_id}"
    latest = f"{_CURL} '{workspace}/invocations?limit=1'"
    rows = [
        ("try", f"export TOKEN={run.token}"),
        ("discover", f"{_CURL} '{run.gateway}/v1/agents?installable=true'"),
        ("invoke", f"{_CURL} {_JSON} {workspace}/invocations -d {_request(sample, skill, example, stream=False)}"),
    ]
    if sample.card.limits.streaming:
        request = _request(sample, skill, example, stream=True)
        rows.append(("stream", f"{_CURL} {_JSON} {_EVENTS} {workspace}/invocations -d {request}"))
    return [
        *rows,
        ("inspect", f"INVOCATION=$({latest} | {_member('invocationId')})"),
        ("", f"TRACE=$({latest} | {_member('traceId')})"),
        ("", f"{_CURL} {workspace}/invocations/$INVOCATION"),
        ("", f"{_CURL} {workspace}/traces/$TRACE"),
    ]


def _examples(sample: Sample) -> list[tuple[Skill, msgspec.Raw]]:
    return [
        (skill, example)
        for skill in sample.card.skills
        for example in msgspec.json.decode(skill.input_schema, type=_Examples).examples
    ]


def _request(sample: Sample, skill: Skill, example: msgspec.Raw, *, stream: bool) -> str:
    body = {"agentId": sample.card.agent_id, "capability": skill.id, "input": msgspec.json.decode(example)}
    return shlex.quote(msgspec.json.encode({**body, "stream": stream}).decode())


def _member(name: str) -> str:
    return f"""grep -o '"{name}":"[^"]*' | cut -d'"' -f4"""
