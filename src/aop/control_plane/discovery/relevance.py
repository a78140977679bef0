"""How well a word of a query matches a word of a Card, as points: whole numbers, and a score is their sum."""

from collections.abc import Sequence
from enum import IntEnum

from aop.control_plane.registry.words import CardPlace

_PLACES = 128
"""Every combination of places has its own points, so the store looks them up instead of deciding."""


class Match(IntEnum):
    """How a word of the query and a word of a Card are alike, the best first."""

    WHOLE = 0
    START = 1
    ONE_MISTAKE = 2
    TWO_MISTAKES = 3


# A better match counts more than a better place, and a whole id counts more than any word.
_ID_POINTS = {CardPlace.AGENT_ID: 1_008, CardPlace.SKILL_ID: 1_006, CardPlace.OWNER_ID: 1_004}
_MATCH_POINTS = {Match.WHOLE: 100, Match.START: 60, Match.ONE_MISTAKE: 30, Match.TWO_MISTAKES: 20}
_PLACE_POINTS = {
    CardPlace.AGENT_ID | CardPlace.NAME: 8,
    CardPlace.SKILL_ID | CardPlace.SKILL: 6,
    CardPlace.OWNER_ID | CardPlace.OWNER: 4,
    CardPlace.DESCRIPTION: 2,
}


def _points(match: Match, places: int) -> int:
    if match is Match.WHOLE:
        for identity, points in _ID_POINTS.items():
            if places & identity:
                return points
    return next((_MATCH_POINTS[match] + points for group, points in _PLACE_POINTS.items() if places & group), 0)


POINTS: Sequence[int] = [_points(match, places) for match in Match for places in range(_PLACES)]
"""By `match * 128 + places`."""
NO_POINTS: Sequence[int] = [0] * len(POINTS)
"""For the order of publication: everything that matches is equal."""
