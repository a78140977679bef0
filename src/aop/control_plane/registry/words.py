"""The words by which Discovery knows a Card: which places of it are searched, and how text becomes words."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from enum import IntFlag

from aop.contracts.card import AgentCard

MAX_WORD = 64
"""Longer words are cut, in Cards and in queries alike."""
_MAX_WORDS = 1_000
_MAX_SKILLS = 200
"""A Card of 1 MiB may have thousands of Skills and words. What a publication writes has a limit; the description comes
last."""
ID_MARK = "="
"""Stands before a whole id: no word starts with it, so neither is taken for the other."""
_ASCII = re.compile(r"[0-9a-z]+")
# Of scripts that put no space between words, each character is a word.
_SPACELESS = re.compile("([\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003fffd])")


class CardPlace(IntFlag):
    """Where in a Card a word stands, the more telling the greater. The first three are whole ids."""

    AGENT_ID = 64
    SKILL_ID = 32
    OWNER_ID = 16
    NAME = 8
    SKILL = 4
    OWNER = 2
    DESCRIPTION = 1


def words_of(text: str) -> list[str]:
    """Rows of letters, digits and marks, without regard to case and to compatible forms of one character."""
    text = searched(text)
    if text.isascii():
        found = _ASCII.findall(text)
    else:
        kept = "".join(character if _in_word(character) else " " for character in text)
        found = _SPACELESS.sub(r" \1 ", kept).split()
    return [word[:MAX_WORD] for word in found]


def searched(text: str) -> str:
    """The form in which both sides of a search are compared."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def whole_id(text: str) -> str:
    return ID_MARK + searched(text)


def words_of_card(card: AgentCard) -> Mapping[str, CardPlace]:
    """Each word once, with all places where it stands; a whole id is a word of its own."""
    words: dict[str, CardPlace] = {}
    for place, text in _texts(card):
        for word in _of_place(place, text):
            if word in words or len(words) < _MAX_WORDS:
                words[word] = words.get(word, CardPlace(0)) | place
    return words


def _texts(card: AgentCard) -> Iterator[tuple[CardPlace, str]]:
    skills = card.skills[:_MAX_SKILLS]
    yield CardPlace.AGENT_ID, card.agent_id
    yield CardPlace.OWNER_ID, card.owner.id
    yield from ((CardPlace.NAME, text) for text in (card.agent_id, card.name))
    yield from ((CardPlace.OWNER, text) for text in (card.owner.id, card.owner.display_name))
    for skill in skills:
        yield CardPlace.SKILL_ID, skill.id
        yield from ((CardPlace.SKILL, text) for text in (skill.id, skill.name))
    yield CardPlace.DESCRIPTION, card.description


def _of_place(place: CardPlace, text: str) -> Iterable[str]:
    return (whole_id(text),) if place >= CardPlace.OWNER_ID else words_of(text)


def _in_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LNM"
