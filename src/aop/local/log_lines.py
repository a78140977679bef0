"""Turns a unit's log lines into lines for people: JSON records become one short sentence each."""

import msgspec

from aop.local.terminal import ColouredText, Line

_COLOURS = (36, 35, 34, 32, 33, 96, 95, 94)
_RED, _YELLOW, _DIM = 31, 33, 2
_NAME_WIDTH = 13
_PROBES = frozenset({"/livez", "/readyz", "/metrics"})
_NO_RECORD = (msgspec.DecodeError, RecursionError)
"""What reading a line raises; a deeply nested one raises the second."""


class _Record(msgspec.Struct, rename="camel"):
    """The members of a unit's log records that are shown; a line that is none of these is shown as it is."""

    level: str
    event: str
    method: str | None = None
    route: str | None = None
    status: int | None = None
    code: str | None = None
    reason: str | None = None
    milliseconds: float | None = None
    caller: str | None = None
    invocation_id: str | None = None
    trace_id: str | None = None
    cause: str | None = None


class LogLines:
    def __init__(self) -> None:
        self._names: dict[str, int] = {}
        self._decode = msgspec.json.Decoder(_Record).decode

    def is_request(self, line: str) -> bool:
        return self._route(line) is not None

    def is_probe(self, line: str) -> bool:
        """Whether it records a question after health, of which a starting platform asks many."""
        return self._route(line) in _PROBES

    def render(self, name: str, line: str) -> Line:
        colour = self._names.setdefault(name, _COLOURS[len(self._names) % len(_COLOURS)])
        return ColouredText(f"{name:{_NAME_WIDTH}}", colour), " ", self._sentence(line)

    def _route(self, line: str) -> str | None:
        try:
            return self._decode(line).route
        except _NO_RECORD:
            return None

    def _sentence(self, line: str) -> str | ColouredText:
        try:
            record = self._decode(line)
        except _NO_RECORD:
            return line
        text = _request(record) if record.method else _event(record)
        if record.level == "error" or (record.status or 0) >= 500:
            return ColouredText(text, _RED)
        if record.level == "warning" or (record.status or 0) >= 400:
            return ColouredText(text, _YELLOW)
        return text if record.method else ColouredText(text, _DIM)


def _request(record: _Record) -> str:
    parts = [record.method, record.route or "(no such path)", str(record.status), record.code, record.reason]
    if record.milliseconds is not None:
        parts.append(f"{record.milliseconds:.0f} ms" if record.milliseconds >= 10 else f"{record.milliseconds:.1f} ms")
    parts += [record.invocation_id, f"trace={record.trace_id}" if record.trace_id else None, record.cause]
    return " ".join(part for part in parts if part)


def _event(record: _Record) -> str:
    return record.event if record.cause is None else f"{record.event}: {record.cause}"
