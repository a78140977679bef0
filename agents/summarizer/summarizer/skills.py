"""The three Skills: what each takes, and the pieces of its result as they are made."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final

import msgspec

from summarizer.sentences import ranked, summary, tokens

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=200_000)]
SpokenText = Annotated[str, msgspec.Meta(min_length=1, max_length=20_000)]
Count = Annotated[int, msgspec.Meta(ge=1, le=20)]
Pace = Annotated[int, msgspec.Meta(ge=0, le=1_000)]
WordsPerMinute = Annotated[int, msgspec.Meta(ge=30, le=6_000)]


@dataclass(frozen=True)
class Piece:
    """One part of the result's only artifact; in a stream each is sent on its own."""

    part: dict[str, Any]
    last: bool


class Unusable(Exception):
    """The input is not what the Skill asks for; the text is for the caller."""


class Skill(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """The input of a Skill, which knows how to work on itself."""

    def pieces(self) -> AsyncGenerator[Piece, None]:
        raise NotImplementedError


class Summarize(Skill, frozen=True):
    text: Text
    sentences: Count = 3
    pace_ms: Pace = 0

    def pieces(self) -> AsyncGenerator[Piece, None]:
        return _spoken(summary(self.text, self.sentences), self.pace_ms / 1_000)


class RankSentences(Skill, frozen=True):
    text: Text
    sentences: Count = 5

    async def pieces(self) -> AsyncGenerator[Piece, None]:
        found = [asdict(sentence) for sentence in ranked(self.text, self.sentences)]
        yield Piece({"kind": "data", "data": {"sentences": found}}, last=True)


class ReadAloud(Skill, frozen=True):
    text: SpokenText
    words_per_minute: WordsPerMinute = 180

    def pieces(self) -> AsyncGenerator[Piece, None]:
        return _spoken(self.text, 60 / self.words_per_minute)


SKILLS: Final[dict[str, type[Skill]]] = {
    "summarize": Summarize,
    "rank-sentences": RankSentences,
    "read-aloud": ReadAloud,
}


def work_on(capability: str, given: bytes) -> AsyncGenerator[Piece, None]:
    """The Router has checked the input against the Card; this Agent still looks, because anyone may run it alone."""
    skill = SKILLS.get(capability)
    if skill is None:
        raise Unusable(f"This Agent offers {', '.join(SKILLS)}.")
    try:
        return msgspec.json.decode(given, type=skill).pieces()
    except msgspec.DecodeError as problem:
        raise Unusable(f"The input of {capability} is not right: {problem}") from None


async def _spoken(text: str, seconds: float) -> AsyncGenerator[Piece, None]:
    """A text word by word, with a pause before each."""
    words = tokens(text)
    for number, word in enumerate(words, 1):
        await asyncio.sleep(seconds)
        yield Piece({"kind": "text", "text": word}, last=number == len(words))
