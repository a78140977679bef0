"""Where a list stops that is sorted by a time, then by an identifier."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Self

import msgspec

from aop.serving.edge.paging import Paging, SafeIdentifier

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LAST_MICROS = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


class TimePosition(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    micros: Annotated[int, msgspec.Meta(ge=0, le=_LAST_MICROS)]
    identity: SafeIdentifier

    @classmethod
    def of(cls, moment: datetime, identity: str) -> Self:
        return cls((moment - _EPOCH) // _MICROSECOND, identity)


def after(paging: Paging[TimePosition]) -> tuple[datetime, str] | None:
    position = paging.after
    return None if position is None else (_EPOCH + position.micros * _MICROSECOND, position.identity)
