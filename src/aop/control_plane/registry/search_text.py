"""What substring search needs of a text: its folded form, and hashes of its trigrams for an index."""

import zlib
from collections.abc import Sequence

GRAM_LENGTH = 3


def folded(text: str) -> str:
    """Unicode default case folding, no normalisation: both sides of a search are folded alike, whatever the store's
    locale is."""
    return text.casefold()


def grams(*folded_texts: str) -> Sequence[int]:
    """Signed 32-bit hashes of all distinct trigrams, in no order. A text that holds a substring has all grams of the
    substring; the reverse is not sure, so a search by grams is always followed by a look at the text itself."""
    found: set[tuple[str, ...]] = set()
    for text in folded_texts:
        found.update(zip(*(text[start:] for start in range(GRAM_LENGTH)), strict=False))
    # Distinct ones only are hashed: prose repeats its trigrams.
    return [number - 2**31 for number in map(zlib.crc32, map(str.encode, map("".join, found)))]
