"""Every bad answer to message/send that a test gives, by the code and reason of its end."""

import json

from tests.support.agent import a_message, a_task, data, result_of, rpc_error, saying, text
from tests.support.peers import JSON, Behaviour, reset, sending

CANARY = "canary-of-the-agent"
GOOD = b'{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"data","data":1}]}'
SAID = {"kind": "message", "messageId": "m", "role": "agent", "parts": [text(CANARY)]}
WHOLE = b'{"jsonrpc":"2.0","id":"%id%","result":' + GOOD + b"}"


def status(number: int, *headers: bytes) -> Behaviour:
    return saying(json.dumps({"code": "UNAUTHENTICATED", "message": CANARY}).encode(), number, *headers)


def envelope(members: bytes) -> Behaviour:
    return saying(b'{"jsonrpc":"2.0",' + members + b"}")


FAILURES: dict[tuple[str, str | None], dict[str, Behaviour]] = {
    ("AGENT_UNAVAILABLE", "http_other_success"): {
        "201": status(201),
        "204": sending(b"HTTP/1.1 204 Said\r\n\r\n"),
    },
    ("AGENT_UNAVAILABLE", "http_auth"): {"401": status(401), "403": status(403)},
    ("AGENT_UNAVAILABLE", "http_client_error"): {"404": status(404), "415": status(415)},
    ("AGENT_UNAVAILABLE", "http_server_error"): {
        "500": status(500),
        "503": status(503),
        "500 with a large page": saying(b" " * 1_100_000, 500),
        "502 in chunks": sending(
            b"HTTP/1.1 502 Said\r\ntransfer-encoding: chunked\r\n\r\n"
            + b"10f447\r\n"
            + b" " * 1_111_111
            + b"\r\n0\r\n\r\n"
        ),
    },
    ("AGENT_UNAVAILABLE", "http_redirect"): {
        "302": status(302, b"location: /elsewhere"),
        "307": status(307, b"location: /elsewhere"),
    },
    ("AGENT_UNAVAILABLE", "transfer_broken"): {
        "reset": reset,
        "closed": sending(b""),
        "not HTTP": sending(b"SMTP ready\r\n\r\n"),
        "cut head": sending(b"HTTP/1.1 200 OK\r\ncontent-ty"),
        "cut body": sending(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"),
        "cut chunk": sending(
            b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"
        ),
        "two lengths": sending(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}"),
    },
    ("AGENT_EXECUTION_FAILED", "rpc_error"): {"JSON-RPC error": rpc_error(-32603, CANARY)},
    ("AGENT_EXECUTION_FAILED", "rpc_method_not_found"): {"JSON-RPC error -32601": rpc_error(-32601, CANARY)},
    ("AGENT_EXECUTION_FAILED", "rpc_version_not_supported"): {"JSON-RPC error -32009": rpc_error(-32009, CANARY)},
    ("AGENT_EXECUTION_FAILED", "task_failed"): {
        "task failed": a_task("failed", [text(CANARY)]),
        "task failed with a reason of its own": a_task("failed", status={"state": "failed", "message": SAID}),
    },
    ("AGENT_EXECUTION_FAILED", "task_rejected"): {"task rejected": a_task("rejected")},
    ("AGENT_EXECUTION_FAILED", "input_required"): {
        "input-required": a_task("input-required", status={"state": "input-required", "message": SAID})
    },
    ("AGENT_EXECUTION_FAILED", "auth_required"): {"auth-required": a_task("auth-required")},
    ("AGENT_RESPONSE_TOO_LARGE", "body_size"): {"body": a_message(text("x" * 1_048_577))},
    ("AGENT_RESPONSE_TOO_LARGE", "head_size"): {
        "head": sending(b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200_000 + b"\r\n\r\n"),
    },
    ("A2A_PROTOCOL_ERROR", "rpc_envelope"): {
        "wrong version": saying(b'{"jsonrpc":"1.0","id":"%id%","result":' + GOOD + b"}"),
        "other id": envelope(b'"id":"other","result":' + GOOD),
        "number id": envelope(b'"id":1,"result":' + GOOD),
        "true id": envelope(b'"id":true,"result":' + GOOD),
        "object id": envelope(b'"id":{},"result":' + GOOD),
        "null id": envelope(b'"id":null,"result":' + GOOD),
        "no id": envelope(b'"result":' + GOOD),
        "both": envelope(b'"id":"%id%","error":{"code":1,"message":"m"},"result":' + GOOD),
        "neither": envelope(b'"id":"%id%"'),
        "unknown member": envelope(b'"id":"%id%","extra":1,"result":' + GOOD),
    },
    ("A2A_PROTOCOL_ERROR", "not_json"): {
        "repeated envelope member": envelope(b'"id":"%id%","id":"%id%","result":' + GOOD),
        "repeated member inside": envelope(
            b'"id":"%id%","result":' + GOOD.replace(b'"data":1', b'"data":{"a":1,"a":2}')
        ),
        "trailing data": saying(b'{"jsonrpc":"2.0","id":"%id%","result":' + GOOD + b"} 1"),
        "lone surrogate": envelope(b'"id":"%id%","result":' + GOOD.replace(b'"data":1', b'"data":"\\ud800"')),
        "not JSON": saying(CANARY.encode()),
        "not UTF-8": envelope(b'"id":"%id%","result":' + GOOD.replace(b'"data":1', b'"data":"\xff"')),
        "empty": saying(b""),
    },
    ("A2A_PROTOCOL_ERROR", "media_type"): {
        "media type": saying(WHOLE, 200, b"content-type: text/html"),
        "no media type": saying(WHOLE, 200, b"x-other: 1"),
        "two media types": saying(WHOLE, 200, JSON, JSON),
        "encoded": saying(WHOLE, 200, JSON, b"content-encoding: gzip"),
        "encoded twice": saying(WHOLE, 200, JSON, b"content-encoding: identity", b"content-encoding: br"),
        "a stream": saying(WHOLE, 200, b"content-type: text/event-stream"),
    },
    ("A2A_PROTOCOL_ERROR", "message_shape"): {
        "unknown kind": result_of({"kind": "thing"}),
        "the shape of A2A 1.0": result_of({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": []}}),
        "no parts": a_message(),
        "no message id": a_message(data(1), messageId=None),
        "empty message id": a_message(data(1), messageId=""),
        "role user": a_message(data(1), role="user"),
        "unknown part": a_message({"kind": "video", "data": 1}),
    },
    ("A2A_PROTOCOL_ERROR", "task_shape"): {"task without context": a_task("completed", contextId=None)},
    ("A2A_PROTOCOL_ERROR", "task_state_unknown"): {
        "unknown": a_task("unknown"),
        "made-up state": a_task("resting"),
    },
    ("CANCELED", None): {"task canceled": a_task("canceled")},
}
