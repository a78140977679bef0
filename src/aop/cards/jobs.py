"""The jobs of a schema process and its replies; nothing else is sent between the two."""

import msgspec

from aop.cards.cost import Location
from aop.contracts.errors import Violation


class ReadCardText(msgspec.Struct, frozen=True, tag="card"):
    """A Card that follows the Card's schema: whether it follows the rules, and its canonical form."""

    raw: bytes


class SurveySchema(msgspec.Struct, frozen=True, tag="survey"):
    schema: bytes


class CheckValue(msgspec.Struct, frozen=True, tag="check"):
    """A value against a schema; `explain` says why it is refused, `max_ns` is the most the check may be bound by."""

    schema: bytes
    value: bytes
    explain: bool
    max_ns: float


class ReadText(msgspec.Struct, frozen=True, tag="read"):
    """Whether an Agent's answer is strict JSON; one of too many parts is too much work for its reader."""

    text: bytes
    max_depth: int


class ReadBody(msgspec.Struct, frozen=True, tag="body"):
    """Whether the body of a request is strict JSON and follows a contract document."""

    document: str
    text: bytes


class CompareCards(msgspec.Struct, frozen=True, tag="compare"):
    """Two registered versions of a Card, the older first: what the newer one means for each Skill of both."""

    before: bytes
    after: bytes


Job = ReadCardText | SurveySchema | CheckValue | ReadText | ReadBody | CompareCards


class CardRead(msgspec.Struct, frozen=True, tag="card"):
    document: bytes


class CardRefused(msgspec.Struct, frozen=True, tag="refused"):
    violations: tuple[Violation, ...]


class SchemaSurvey(msgspec.Struct, frozen=True, tag="surveyed"):
    """`compile_ns` is what compiling took; no locations when they are too many to be sent."""

    locations: tuple[Location, ...]
    compile_ns: float
    automaton_bytes: int


class Checked(msgspec.Struct, frozen=True, tag="checked"):
    """Whether a value follows its schema, or a text is strict JSON."""

    is_valid: bool
    violations: tuple[Violation, ...] = ()


class Comparison(msgspec.Struct, frozen=True, tag="compared"):
    """The answers for each Skill, as JSON."""

    skills: bytes


class TooMuchWork(msgspec.Struct, frozen=True, tag="too_much"):
    """The bound is above the limit, or more memory is needed than a check may take."""


Reply = CardRead | CardRefused | SchemaSurvey | Checked | Comparison | TooMuchWork
