"""Version selection: only the highest version in a range is a candidate; no lower version replaces it."""

from dataclasses import dataclass

from aop.base.semver import Precedence, Version
from aop.base.semver_range import Range, RangeSyntax
from aop.contracts.errors import InvalidRequest, NotFound, Reason, Violation
from aop.control_plane.registry.pins import Pins, highest_candidate

# One of the first versions meets most ranges; the others are read in larger steps.
_FIRST_STEP = 32
_FURTHER_STEP = 512


def read_constraint(text: str) -> Range:
    try:
        return Range.parse(text)
    except RangeSyntax:
        raise InvalidRequest(Violation("/versionConstraint", "constraint_syntax")) from None


async def highest_version(pins: Pins, agent_id: str, constraint: Range) -> str:
    """Candidates are sorted by precedence, then bytewise, highest first: the first one that the range permits wins.

    Reads only versions between the ends of the range, however many versions the Agent has.
    """
    ends, prereleases = _Ends.of(constraint), any(branch.names_prerelease for branch in constraint.branches)
    upper, step = highest_candidate(ends.high), _FIRST_STEP
    while candidates := await pins.candidates(agent_id, upper, step, prereleases=prereleases):
        for candidate in candidates:
            version = Version.parse(candidate.version)
            if constraint.permits(version):
                return candidate.version
            if ends.low is not None and version.precedence < ends.low:
                raise await _nothing_in_range(pins, agent_id)
        upper, step = candidates[-1], _FURTHER_STEP
    raise await _nothing_in_range(pins, agent_id)


async def _nothing_in_range(pins: Pins, agent_id: str) -> NotFound:
    if await pins.knows(agent_id):
        return NotFound("no version in the range", reason=Reason.VERSION_RANGE_EMPTY)
    return NotFound("no such Agent", reason=Reason.AGENT_UNKNOWN)


@dataclass(frozen=True)
class _Ends:
    """All permitted versions lie between these; None where there is no end."""

    low: Precedence | None
    high: Precedence | None

    @classmethod
    def of(cls, constraint: Range) -> "_Ends":
        lows: list[Precedence | None] = []
        highs: list[Precedence | None] = []
        for branch in constraint.branches:
            spans = [span for span in branch.spans if not span.excluded]
            lows.append(max((span.low for span in spans if span.low is not None), default=None))
            highs.append(min((span.high for span in spans if span.high is not None), default=None))
        return cls(
            None if None in lows else min(low for low in lows if low is not None),
            None if None in highs else max(high for high in highs if high is not None),
        )
