"""What became of a write to the Ledger, and of a probe for one: two closed sets of results that cannot be confused."""

from typing import Generic, TypeVar

import msgspec

R = TypeVar("R")


class Written(msgspec.Struct, Generic[R], frozen=True):
    """Committed, and the store told the write itself so."""

    value: R


class Found(msgspec.Struct, Generic[R], frozen=True):
    """In the store, which its writer learned only by asking: too late to begin anything with it."""

    value: R


class Refused(msgspec.Struct, frozen=True):
    """By the statement, in the ordinary way: the id is taken, or another terminal was there first."""


class NotWritten(msgspec.Struct, frozen=True):
    """Not in the store, and never will be: it was not sent, or it was rolled back.

    `denied` by a rule of the store or because of its values: to send it again is in vain.
    """

    denied: bool = False


class Absent(msgspec.Struct, frozen=True):
    """The store was asked, and answered: it is not there, and never will be."""


class Unknown(msgspec.Struct, frozen=True):
    """Nobody answered in time."""


WriteResult = Written[R] | Found[R] | Refused | NotWritten | Unknown
ProbeResult = Found[R] | Absent | Unknown

REFUSED, NOT_WRITTEN, DENIED, ABSENT, UNKNOWN = Refused(), NotWritten(), NotWritten(denied=True), Absent(), Unknown()
