"""Small mistakes: how many wrong letters a word may have, and which words share enough with it to be tried."""

from dataclasses import dataclass

_MIN_LETTERS = 4
_MIN_LETTERS_FOR_TWO = 6
_MAX_LETTERS = 32
"""Of longer words no pieces are stored."""


@dataclass(frozen=True)
class Grams:
    """A misspelt word shares `needed` of these with the word meant, and its length is one of `lengths`."""

    grams: tuple[str, ...]
    lengths: range
    needed: int


def forgiven(word: str) -> int:
    """How many wrong letters; in a number no digit is wrong."""
    if not _MIN_LETTERS <= len(word) <= _MAX_LETTERS or word.isdigit():
        return 0
    return 1 if len(word) < _MIN_LETTERS_FOR_TWO else 2


def pieces(word: str) -> Grams:
    """Two letters exchanged break four pieces, every other mistake fewer. One shared piece alone is not enough to be
    tried: of the words of 6 and 7 letters this leaves out a few with two mistakes that touch nearly all of it."""
    mistakes, padded = forgiven(word), f"  {word}  "
    grams = tuple(sorted({padded[start : start + 3] for start in range(len(word) + 2)}))
    lengths = range(max(3, len(word) - mistakes), min(_MAX_LETTERS, len(word) + mistakes) + 1)
    return Grams(grams, lengths, max(2, len(grams) - 4 * mistakes))


def mistakes(word: str, meant: str) -> int:
    """How many letters were added, left out, replaced or exchanged with their neighbour.

    The columns of the usual table are stored as bits of one number each, so a pair of words takes microseconds
    (G. Myers 1999; with exchanged neighbours: H. Hyyrö 2003).
    """
    positions: dict[str, int] = {}
    for place, letter in enumerate(word):
        positions[letter] = positions.get(letter, 0) | 1 << place
    whole = (1 << len(word)) - 1
    last = 1 << len(word) - 1
    more, fewer, diagonal, before, distance = whole, 0, 0, 0, len(word)
    for letter in meant:
        same = positions.get(letter, 0)
        exchanged = (((~diagonal & same) << 1) & before) & whole
        diagonal = ((((same & more) + more) ^ more) | same | fewer | exchanged) & whole
        up = fewer | ~(diagonal | more) & whole
        down = diagonal & more
        distance += bool(up & last) - bool(down & last)
        up, down = (up << 1 | 1) & whole, (down << 1) & whole
        more, fewer, before = (down | ~(diagonal | up)) & whole, up & diagonal, same
    return distance
