"""The base of every hand-written reader: frozen, closed, camelCase on the wire, absent members left out."""

from datetime import datetime
from typing import TypeVar

import msgspec

from aop.base.clock import to_text

T = TypeVar("T")


class Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """A closed object of a contract document."""


def or_unset(value: T | None) -> T | msgspec.UnsetType:
    """A member that is left out where there is nothing to say."""
    return msgspec.UNSET if value is None else value


def moment_or_unset(moment: datetime | None) -> str | msgspec.UnsetType:
    return msgspec.UNSET if moment is None else to_text(moment)
