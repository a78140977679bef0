"""What substring search needs of a text: its folded form, and hashes of its short pieces for an index."""

import zlib
from collections.abc import Iterable, Sequence

LONGEST_GRAM = 3


def folded(text: str) -> str:
    """Unicode default case folding, no normalisation: both sides of a search are folded alike, whatever the store's
    locale is."""
    return text.casefold()


def grams(*folded_texts: str) -> Sequence[int]:
    """Signed 32-bit hashes of all distinct pieces of one to three characters, in no order. A text that holds a
    substring has all grams of the substring; the reverse is not sure, so a search by grams is always followed by a look
    at the text itself."""
    triples: set[tuple[str, str, str]] = set()
    shorter: set[str] = set()
    for text in folded_texts:
        triples.update(zip(text, text[1:], text[2:], strict=False))
        shorter.update(text)
        shorter.add(text[-2:])  # the one pair that begins no triple
    longest = list(map("".join, triples))
    # Distinct ones only are joined, cut and hashed: prose repeats its pieces.
    shorter.update([piece[:2] for piece in longest])
    shorter.discard("")
    return _hashes([*longest, *shorter])


def query_grams(folded_query: str) -> Sequence[int]:
    """The longest grams of a query only: they say all that its shorter ones do."""
    length = min(LONGEST_GRAM, len(folded_query))
    pieces = {folded_query[start : start + length] for start in range(len(folded_query) - length + 1)}
    return _hashes(pieces - {""})


def _hashes(pieces: Iterable[str]) -> Sequence[int]:
    return [number - 2**31 for number in map(zlib.crc32, map(str.encode, pieces))]
