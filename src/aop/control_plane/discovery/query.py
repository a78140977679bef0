"""What a query asks for: words, each with what it may mean, or a literal part of a text."""

from collections.abc import Sequence
from dataclasses import dataclass

from aop.control_plane.discovery import word_store
from aop.control_plane.discovery.relevance import Match
from aop.control_plane.discovery.spelling import forgiven, mistakes
from aop.control_plane.registry.words import whole_id, words_of
from aop.store.database import Connection

_MISTAKES = {1: Match.ONE_MISTAKE, 2: Match.TWO_MISTAKES}


@dataclass(frozen=True)
class Meaning:
    """A stored word that the word of the query with this number may mean."""

    word_id: int
    term: int
    match: Match


@dataclass(frozen=True)
class WordQuery:
    """Every word must match somewhere. What stands between spaces may be a whole id."""

    words: Sequence[str]
    ids: Sequence[str]

    async def meanings(self, connection: Connection) -> Sequence[Meaning] | None:
        """The best match first. None when some word means nothing that is stored."""
        found: dict[tuple[int, int], Match] = {}
        for near in await word_store.near(connection, self.words):
            found[near.term, near.word_id] = Match.WHOLE if near.word == self.words[near.term] else Match.START
        for tried in await word_store.alike(connection, self.words):
            if (tried.term, tried.word_id) not in found and (match := self._misspelt(tried)) is not None:
                found[tried.term, tried.word_id] = match
        if len({term for term, _ in found}) < len(self.words):
            return None
        # Ids are one term more, which need not match; it makes what has this very id the best.
        ids = await word_store.exact(connection, self.ids)
        found |= dict.fromkeys(((len(self.words), word_id) for word_id in ids), Match.WHOLE)
        ordered = sorted((match, word_id, term) for (term, word_id), match in found.items())
        return [Meaning(word_id, term, match) for match, word_id, term in ordered]

    def _misspelt(self, tried: word_store.NearWord) -> Match | None:
        word = self.words[tried.term]
        number = mistakes(word, tried.word)
        return _MISTAKES[number] if 0 < number <= forgiven(word) else None


def word_query(text: str) -> WordQuery | None:
    """None for a query without letters and digits."""
    words = list(dict.fromkeys(words_of(text)))
    if not words:
        return None
    return WordQuery(words, [whole_id(part) for part in dict.fromkeys(text.split())])
