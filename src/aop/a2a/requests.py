"""The four JSON-RPC requests that the Router and `aop agent check` send; the input is spliced in byte for byte."""

import msgspec

_SEND = b'{"acceptedOutputModes":["application/json","text/plain"],"blocking":true}'
_STREAM = b'{"acceptedOutputModes":["application/json","text/plain"]}'


def send(request_id: str, message_id: str, content: bytes) -> bytes:
    return _message(request_id, b"message/send", message_id, content, _SEND)


def stream(request_id: str, message_id: str, content: bytes) -> bytes:
    return _message(request_id, b"message/stream", message_id, content, _STREAM)


def get_task(request_id: str, task_id: str) -> bytes:
    return _on_task(request_id, b"tasks/get", task_id, b',"historyLength":1')


def cancel_task(request_id: str, task_id: str) -> bytes:
    return _on_task(request_id, b"tasks/cancel", task_id, b"")


def _message(request_id: str, method: bytes, message_id: str, content: bytes, configuration: bytes) -> bytes:
    # The bytes of a JSON value begin with its first token: a string's with a quotation mark.
    kind = b"text" if content.startswith(b'"') else b"data"
    return (
        b'{"jsonrpc":"2.0","id":"%b","method":"%b","params":{"message":{"kind":"message","messageId":"%b",'
        b'"role":"user","parts":[{"kind":"%b","%b":%b}]},"configuration":%b}}'
    ) % (request_id.encode("ascii"), method, message_id.encode("ascii"), kind, kind, content, configuration)


def _on_task(request_id: str, method: bytes, task_id: str, more: bytes) -> bytes:
    # The Task's id is the Agent's text and may hold anything a JSON string may.
    return b'{"jsonrpc":"2.0","id":"%b","method":"%b","params":{"id":%b%b}}' % (
        request_id.encode("ascii"),
        method,
        msgspec.json.encode(task_id),
        more,
    )
