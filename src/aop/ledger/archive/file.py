"""The file of an exported month, `contracts/ledger-export`: one line for each event, between a first and a last."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from aop.base import json as strict_json
from aop.base.ids import hex_part
from aop.contracts.ledger_export import ExportedEvent, ExportFirst, ExportLast
from aop.ledger.months import Month

_LINE_BYTES: Final = 1 << 20
_LAST: Final = b'{"invocations":'


class FileWrong(Exception):
    """The file is not what was exported; the text says where."""


class _LeafIds(msgspec.Struct, frozen=True, rename="camel"):
    invocation_id: str
    root_task_id: str
    sequence: int


_read_event: Final = msgspec.json.Decoder(ExportedEvent).decode
_read_ids: Final = msgspec.json.Decoder(_LeafIds).decode
_written: Final = msgspec.json.Encoder().encode


class MonthWriter:
    """Writes the lines, and the digest over them at the end."""

    def __init__(self, file: BinaryIO, month: Month) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self.events = self.invocations = 0
        self._write(ExportFirst(schema_version="1", month=str(month)))

    def add(self, line: ExportedEvent) -> None:
        self.events += 1
        self.invocations += line.position is not msgspec.UNSET
        self._write(line)

    def end(self) -> ExportLast:
        last = ExportLast(invocations=self.invocations, events=self.events, sha256=self._digest.hexdigest())
        self._file.write(msgspec.json.encode(last) + b"\n")
        return last

    def _write(self, line: msgspec.Struct) -> None:
        raw = _written(line) + b"\n"
        self._digest.update(raw)
        self._file.write(raw)


class MonthFile:
    """Reads a file from its first to its last line; what it says of itself is judged on the way."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._month: Month | None = None
        self._last: ExportLast | None = None

    @property
    def month(self) -> Month:
        """Once a line was read."""
        if self._month is None:
            raise FileWrong("it has no first line")
        return self._month

    @property
    def last(self) -> ExportLast:
        """Once all lines were read."""
        if self._last is None:
            raise FileWrong("it has no last line: it is not complete")
        return self._last

    def events(self) -> Iterator[ExportedEvent]:
        digest, number, line_number, counts = hashlib.sha256(), -1, 1, [0, 0]
        with self._path.open("rb") as file:
            raw = file.readline(_LINE_BYTES)
            month = self._month = _first(raw)
            _require_once(raw, line_number)
            digest.update(raw)
            roots = _RootsOf(month)
            while raw := file.readline(_LINE_BYTES):
                line_number += 1
                _require_once(raw, line_number)
                if raw.startswith(_LAST):
                    self._last = _end(raw, digest.hexdigest(), counts)
                    break
                event = _event(raw, line_number, roots, number)
                digest.update(raw)
                number = event.number
                counts = [counts[0] + (event.position is not msgspec.UNSET), counts[1] + 1]
                yield event
            if self._last is not None and file.read(1):
                raise FileWrong("something stands behind its last line")
        _ = self.last


def _first(raw: bytes) -> Month:
    try:
        first = msgspec.json.decode(raw, type=ExportFirst)
        return Month.parse(first.month)
    except (msgspec.MsgspecError, ValueError):
        raise FileWrong("its first line is not that of an exported month") from None


def _require_once(raw: bytes, line: int) -> None:
    """Of two members with one name, readers see the first or the last."""
    try:
        strict_json.parse(raw)
    except strict_json.JsonRefused as refused:
        twice = refused.rule is strict_json.JsonRule.DUPLICATE_MEMBER
        raise FileWrong(f"line {line} has a member twice" if twice else f"line {line} is not JSON") from None


class _RootsOf:
    """The digits of root tasks that a month can have, worked out once for millions of lines."""

    def __init__(self, month: Month) -> None:
        self.month = month
        self._first, self._past = month.first_root.hex, month.past_root.hex

    def __contains__(self, root_task: str) -> bool:
        digits = hex_part(root_task, "task")
        return digits is not None and self._first <= digits < self._past


def _event(raw: bytes, line: int, roots: _RootsOf, before: int) -> ExportedEvent:
    try:
        event = _read_event(raw)
        ids = _read_ids(event.leaf)
    except msgspec.MsgspecError:
        raise FileWrong(f"line {line} is no event") from None
    if event.number <= before:
        raise FileWrong(f"line {line} does not follow the one before it")
    if ids.root_task_id not in roots or (event.position is not msgspec.UNSET) != (ids.sequence == 0):
        raise FileWrong(f"line {line} is not an event of {roots.month}")
    return event


def _end(raw: bytes, digest: str, counts: list[int]) -> ExportLast:
    try:
        last = msgspec.json.decode(raw, type=ExportLast)
    except msgspec.MsgspecError:
        raise FileWrong("its last line is not that of an exported month") from None
    if last.sha256 != digest:
        raise FileWrong("its digest is not that of its lines")
    if [last.invocations, last.events] != counts:
        raise FileWrong("its counts are not those of its lines")
    return last
