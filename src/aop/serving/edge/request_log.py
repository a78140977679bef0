"""The log of a unit: one JSON record per line, one record per request, allow-listed members only."""

import logging
import sys
from enum import IntEnum
from typing import BinaryIO

import msgspec

from aop.base.clock import now_text
from aop.contracts.errors import ErrorCode, Reason


class Level(IntEnum):
    DEBUG = 10
    INFO = 20
    WARNING = 30
    ERROR = 40

    def __init__(self, _: int) -> None:
        self.text = self.name.lower()


class RequestRecord(msgspec.Struct, rename="camel", omit_defaults=True):
    """Everything that may be said of a request. There is no member for a body, header, token or raw path."""

    time: str
    level: str
    unit: str
    event: str
    method: str
    route: str | None
    status: int
    trace_id: str
    milliseconds: float
    code: ErrorCode | None = None
    reason: Reason | None = None
    caller: str | None = None
    invocation_id: str | None = None
    cause: str | None = None


class EventRecord(msgspec.Struct, rename="camel", omit_defaults=True):
    """Something that happened to the unit itself."""

    time: str
    level: str
    unit: str
    event: str
    cause: str | None = None


class UnitLog:
    def __init__(self, unit: str, level: str = "info", out: BinaryIO | None = None) -> None:
        self.unit = unit
        self._level = Level[level.upper()]
        self._out = out or sys.stderr.buffer
        self._encode = msgspec.json.Encoder().encode

    def event(self, event: str, *, level: Level = Level.INFO, cause: str | None = None) -> None:
        self._write(level, EventRecord(now_text(), level.text, self.unit, event, cause))

    def request(self, level: Level, record: RequestRecord) -> None:
        self._write(level, record)

    def _write(self, level: Level, record: msgspec.Struct) -> None:
        if level >= self._level:
            self._out.write(self._encode(record) + b"\n")
            self._out.flush()


class RuntimeRecords(logging.Handler):
    """Carries what libraries log into the unit's own log: where and how grave, never their text."""

    def __init__(self, log: UnitLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        level = Level.ERROR if record.levelno >= logging.ERROR else Level.WARNING
        what = f"{record.name} {record.module}:{record.lineno}"
        self._log.event("runtime", level=level, cause=what if error is None else f"{what} {safe_cause(error)}")


def safe_cause(error: BaseException) -> str:
    """Where an unforeseen fault arose: class names and code places, never the text, which may repeat content."""
    places: list[str] = []
    traceback = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        places.append(f"{code.co_qualname}:{traceback.tb_lineno}")
        traceback = traceback.tb_next
    return f"{type(error).__name__} at {' > '.join(places[-6:])}"
