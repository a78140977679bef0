"""Reads the conformance vectors and names the cases that contract section 18 demands of each."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from aop.a2a.answers import AgentFault
from aop.base import assets
from aop.contracts.credential import CONTEXT_HEADERS
from tests.support.every import Test, every

VECTORS = assets.folder("contracts") / "vectors"

_ACCEPT = """json: missing|json: anything|json: application range|json: named with a low weight|json: empty
json: only the stream named|json: weight 0|json: weight 0 wins over anything|json: names are case-insensitive
json: charset utf-8 is ignored|stream: named|stream: named with a weight and other case|stream: missing|stream: anything
stream: text range|stream: json|stream: weight 0|stream: named beside json"""
_LINEAGE = "good child|wrong root task|wrong caller|other trace"
_LIFECYCLE = """good run|success from routing|context change: capability|event after terminal|chunkCount mismatch"""
_STREAM = """good|sequence gap|chunk gap|event after terminal|error ids differ: Invocation|end after accepted
end after chunk"""
_READS = """detail good|detail status mismatch|detail of another Workspace|Trace empty|Trace missing parent
Trace child first|Trace self parent|Trace cycle|Trace two root tasks"""
_CREDENTIAL = """good root|good child|algorithm none|typ JWT|kid of another key|forged with another key
claim repeated: jti|unknown claim: sub|claim missing: jti|wrong type: iat|fractional exp|301 s between iat and exp
future iat|expired|no audience|two audiences|other issuer|other audience|unexpected parent header|other body|replayed
padded claims|malformed: parentInvocationId"""
_DELEGATION = "good root|expired|other typ|other audience|depth 15|depth 16|a credential instead"
_SEND = """message with one data part|completed task with one artifact|wrong kind|empty message id|role user|no parts
several parts become an array in order|failed task|rejected task|canceled task|auth-required task|input-required task
unknown task|made-up state|submitted, working, then completed"""
_A2A_STREAM = """four event kinds|message-only, one message|context change|after the terminal is ignored|no terminal
append without base|second base|after lastChunk|completed without lastChunk|empty stream"""
_JSON_RPC = "wrong version|id mismatch|boolean id|object id|array id|both|neither|unknown member"
_TASKS = """get: found, completed|get: unknown task|get: made-up state|cancel: found, canceled|cancel: unknown task
cancel: not cancelable"""
_TOPOLOGY = """snapshot in two frames|change|heartbeat|revision going back: change"""
_DOOR_MESSAGE = """a text|an object|texts are lines of one string|Skill in the message|Skill in the request|two Skills
context is kept|a Task is named|text beside data|two data parts|data that is no object|a file|no parts
no output mode of ours|push|data of a foreign media type beside text"""
_DOOR_RESULT = "a text|an object|an array|a number|null|false"
_DOOR_STREAM = "no chunk|one text|texts, an object, a number"
_DOOR_ERROR = "UNAUTHENTICATED|NOT_FOUND, Workspace|VALIDATION_ERROR|AGENT_NOT_INSTALLED|DEPENDENCY_ERROR"
_NETWORK = """127.0.0.0/8|::1/128|10.0.0.0/8|172.16.0.0/12|192.168.0.0/16|169.254.0.0/16|fe80::/10|fc00::/7
0.0.0.0/8|0.0.0.0/32|100.64.0.0/10|192.0.0.0/24|192.0.0.0/29|192.0.0.8/32|192.0.0.9/32|192.0.0.10/32|192.0.0.170/32
192.0.0.171/32|192.0.2.0/24|198.51.100.0/24|203.0.113.0/24|192.31.196.0/24|192.175.48.0/24|192.52.193.0/24
192.88.99.0/24|192.88.99.2/32|198.18.0.0/15|224.0.0.0/4|240.0.0.0/4|255.255.255.255/32|::/128|::/96|::ffff:0:0/96
::ffff:0:0:0/96|64:ff9b::/96|64:ff9b:1::/48|100::/64|100:0:0:1::/64|2001::/23|2001::/32|2001:1::1/128|2001:1::2/128
2001:1::3/128|2001:2::/48|2001:3::/32|2001:4:112::/48|2001:10::/28|2001:20::/28|2001:30::/28|2001:db8::/32|3fff::/20
2002::/16|2620:4f:8000::/48|5f00::/16|fec0::/10|ff00::/8|outside 2000::/3|public unicast"""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.replace("\n", "|").split("|"))


def _in_both_versions(text: str) -> frozenset[str]:
    return frozenset(f"{version}: {name}" for version in ("0.3", "1.0") for name in _names(text))


_HEADERS = frozenset(f"{way} header: {name}" for way in ("missing", "repeated", "unequal") for name in CONTEXT_HEADERS)

MINIMUM = {
    "accept": _names(_ACCEPT),
    "lineage": _names(_LINEAGE),
    "lifecycle": _names(_LIFECYCLE),
    "stream": _names(_STREAM),
    "reads": _names(_READS),
    "credential": _names(_CREDENTIAL) | _HEADERS,
    "delegation": _names(_DELEGATION),
    "a2a-send": _names(_SEND),
    "a2a-stream": _names(_A2A_STREAM),
    "json-rpc": _names(_JSON_RPC),
    "tasks": _names(_TASKS),
    "topology": _names(_TOPOLOGY),
    "door-message": _in_both_versions(_DOOR_MESSAGE),
    "door-result": _in_both_versions(_DOOR_RESULT),
    "door-stream": _in_both_versions(_DOOR_STREAM),
    "door-error": _names(_DOOR_ERROR),
}
NETWORK_ROWS = _names(_NETWORK)


def vectors(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((VECTORS / f"{name}.json").read_bytes())
    return loaded


def cases(name: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = vectors(name)["cases"]
    return listed


def code_and_reason(fault: AgentFault) -> dict[str, str]:
    """As an outcome names them."""
    return {"code": str(fault.code)} | ({} if fault.reason is None else {"reason": str(fault.reason)})


def each(name: str) -> Callable[[Test], Test]:
    """One test for all cases of the file; it reports those that fail by their names."""
    return every("case", cases(name), ids=named)


def each_alone(name: str) -> pytest.MarkDecorator:
    """One test per case of the file, for those whose fixtures remember what the case before did."""
    return pytest.mark.parametrize("case", cases(name), ids=named)


def named(case: dict[str, Any]) -> str:
    return str(case["name"])
