"""A2A 0.3 in its smallest form: every answer is a Message, so there are no Tasks to keep."""

import json
from typing import Any
from uuid import uuid4

PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS, FAILED = -32700, -32600, -32601, -32602, -32603
UNKNOWN_TASK = -32001

Json = dict[str, Any]


class RpcRefused(Exception):
    """Becomes a JSON-RPC error; the text is for the caller."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def read_request(body: bytes) -> Json:
    try:
        request = json.loads(body)
    except ValueError:
        raise RpcRefused(PARSE_ERROR, "This is not JSON.") from None
    if not isinstance(request, dict) or request.get("jsonrpc") != "2.0" or not isinstance(request.get("method"), str):
        raise RpcRefused(INVALID_REQUEST, "This is not a JSON-RPC 2.0 request.")
    return request


def given_data(request: Json) -> Json:
    """The input: the data of the message's first data part."""
    try:
        parts = request["params"]["message"]["parts"]
        data = next(part["data"] for part in parts if part["kind"] == "data")
    except (KeyError, TypeError, StopIteration):
        raise RpcRefused(INVALID_PARAMS, "Send a message with one data part: the input of the Skill.") from None
    if not isinstance(data, dict):
        raise RpcRefused(INVALID_PARAMS, "The input is an object.")
    return data


def message(pieces: list[Any]) -> Json:
    """Texts become one text; anything else is one data part each."""
    if all(isinstance(piece, str) for piece in pieces):
        parts: list[Json] = [{"kind": "text", "text": "".join(pieces)}]
    else:
        parts = [{"kind": "data", "data": piece} for piece in pieces]
    return {"kind": "message", "messageId": uuid4().hex, "role": "agent", "parts": parts}


def response(request_id: Any, result: Json) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "result": result}).encode()


def error(request_id: Any, refused: RpcRefused) -> bytes:
    problem = {"code": refused.code, "message": str(refused)}
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "error": problem}).encode()
