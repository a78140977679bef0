"""Results of writes to the Ledger and of probes: two closed sets of types that cannot be confused."""

from typing import Generic, TypeVar

import msgspec

R = TypeVar("R")


class Written(msgspec.Struct, Generic[R], frozen=True):
    """Committed, and the store confirmed the write itself."""

    value: R


class Found(msgspec.Struct, Generic[R], frozen=True):
    """In the store, as a later probe showed: too late to start work on it."""

    value: R


class Refused(msgspec.Struct, frozen=True):
    """By a rule of the statement: the id is taken, or another terminal came first."""


class NotWritten(msgspec.Struct, frozen=True):
    """Not in the store, and never will be: it was not sent, or it was rolled back.

    `denied` by a rule of the store or because of its values: to send it again is in vain.
    """

    denied: bool = False


class Absent(msgspec.Struct, frozen=True):
    """The store answered: it is not there, and never will be."""


class Unknown(msgspec.Struct, frozen=True):
    """The store did not answer in time."""


WriteResult = Written[R] | Found[R] | Refused | NotWritten | Unknown
ProbeResult = Found[R] | Absent | Unknown

REFUSED, NOT_WRITTEN, DENIED, ABSENT, UNKNOWN = Refused(), NotWritten(), NotWritten(denied=True), Absent(), Unknown()
