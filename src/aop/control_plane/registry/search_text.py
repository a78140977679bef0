"""What substring search needs of a text: its folded form, and hashes of its short pieces for an index."""

import zlib
from collections.abc import Iterable, Iterator, Sequence

LONGEST_GRAM = 3

_Piece = tuple[str, ...]


def folded(text: str) -> str:
    """Unicode default case folding, no normalisation: both sides of a search are folded alike, whatever the store's
    locale is."""
    return text.casefold()


def grams(*folded_texts: str) -> Sequence[int]:
    """Signed 32-bit hashes of all distinct pieces of one to three characters, in no order. A text that holds a
    substring has all grams of the substring; the reverse is not sure, so a search by grams is always followed by a look
    at the text itself."""
    found: set[_Piece] = set()
    for text in folded_texts:
        for length in range(1, LONGEST_GRAM + 1):
            found.update(_pieces(text, length))
    # Distinct ones only are hashed: prose repeats its pieces.
    return _hashes(found)


def query_grams(folded_query: str) -> Sequence[int]:
    """The longest grams of a query only: they say all that its shorter ones do."""
    return _hashes(set(_pieces(folded_query, min(LONGEST_GRAM, len(folded_query)))))


def _pieces(text: str, length: int) -> Iterator[_Piece]:
    return zip(*(text[start:] for start in range(length)), strict=False)


def _hashes(pieces: Iterable[_Piece]) -> Sequence[int]:
    return [number - 2**31 for number in map(zlib.crc32, map(str.encode, map("".join, pieces)))]
