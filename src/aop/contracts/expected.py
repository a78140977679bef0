"""Says in words what was expected where a request broke a rule; the contract has the words of every rule."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, Literal

import msgspec

from aop.base import assets
from aop.contracts.errors import Violation
from aop.contracts.wire import Wire

_INDEX: Final = re.compile(r"/[0-9]+(?=/|$)")
RequestPart = Literal["path", "query", "body"]
_PARTS: Final[Mapping[str, RequestPart]] = {"path_value": "path", "query_value": "query"}


class RuleWords(Wire, frozen=True, kw_only=True):
    """`place`: the form of the place belongs after the sentence."""

    rule: str
    sentence: str
    place: bool = False


class _Form(Wire, frozen=True, kw_only=True, rename={"part": "in"}):
    part: RequestPart
    pointer: str
    form: str


class _Table(Wire, frozen=True, kw_only=True):
    schema_version: Literal["1"]
    rules: tuple[RuleWords, ...]
    places: tuple[_Form, ...]


def expected(violation: Violation, form: str | None = None) -> str | None:
    """What the rule wants at this place; None for a rule that the contract does not know.

    `form` is what belongs there, where the caller knows it better than the contract does.

    >>> expected(Violation("/limits/timeoutMs", "minimum"))
    'the number is too small: a whole number from 1 to 600000'
    """
    words = rule_words().get(violation.rule)
    if words is None:
        return None
    form = form or form_at(violation.pointer, _PARTS.get(violation.rule, "body"))
    return f"{words.sentence}: {form}" if words.place and form else words.sentence


def form_at(pointer: str, part: RequestPart) -> str | None:
    """What belongs at a place of a request."""
    return _forms().get((part, _INDEX.sub("/*", pointer)))


@cache
def rule_words() -> Mapping[str, RuleWords]:
    return {row.rule: row for row in _table().rules}


@cache
def _forms() -> Mapping[tuple[RequestPart, str], str]:
    return {(row.part, row.pointer): row.form for row in _table().places}


@cache
def _table() -> _Table:
    return msgspec.json.decode((assets.folder("contracts") / "platform-error" / "rules.json").read_bytes(), type=_Table)
