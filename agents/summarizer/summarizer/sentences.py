"""Reads a text: its sentences, how much each of them says, and the words it is told in."""

import re
from collections import Counter
from dataclasses import dataclass

_SENTENCE = re.compile(r"[^\s.!?][^.!?\n]*(?:[.!?](?![\s.!?]|$)[^.!?\n]*)*[.!?]*")
_WORD = re.compile(r"[^\W\d_]{3,}")
_TOKEN = re.compile(r"\S+\s*")
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "about after all also and any are because been before but can could did does each every few for from "
        "had has have her here him his how into its just may more most much must not now off once only other "
        "our out over own said same she should since some such than that the their them then there these they "
        "this those through too under until upon very was were what when where which while who why will with "
        "would you your ",
    )
)


@dataclass(frozen=True)
class Sentence:
    text: str
    position: int
    score: float


def ranked(text: str, limit: int) -> list[Sentence]:
    """The sentences that say most, the best first: those whose words the whole text uses most often."""
    found = [part.group().strip() for part in _SENTENCE.finditer(text)]
    counted = Counter(word for part in found for word in _words(part))
    scored = [Sentence(part, position, _score(part, counted)) for position, part in enumerate(found, 1)]
    return sorted(scored, key=lambda sentence: (-sentence.score, sentence.position))[:limit]


def summary(text: str, limit: int) -> str:
    """The best sentences in the order in which the text has them."""
    return " ".join(sentence.text for sentence in sorted(ranked(text, limit), key=lambda one: one.position))


def tokens(text: str) -> list[str]:
    """Word by word, each with the blanks after it: put together again, they are the text."""
    words = _TOKEN.findall(text)
    return [text[: -len(text.lstrip())] + words[0], *words[1:]] if words else [text]


def _score(sentence: str, counted: Counter[str]) -> float:
    words = set(_words(sentence))
    return round(sum(counted[word] for word in words) / len(words), 3) if words else 0.0


def _words(sentence: str) -> list[str]:
    return [word for word in _WORD.findall(sentence.lower()) if word not in _COMMON]
