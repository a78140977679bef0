"""What substring search needs of a text: its folded form, and hashes of its trigrams for an index."""

import zlib
from collections.abc import Sequence

GRAM_LENGTH = 3


def folded(text: str) -> str:
    """Unicode default case folding, no normalisation: both sides of a search are folded alike, whatever the store's
    locale is."""
    return text.casefold()


def grams(*folded_texts: str) -> Sequence[int]:
    """Distinct signed 32-bit hashes of all trigrams. A text that holds a substring has all grams of the substring;
    the reverse is not sure, so a search by grams is always followed by a look at the text itself."""
    found = {
        zlib.crc32(text[start : start + GRAM_LENGTH].encode("utf-8")) - 2**31
        for text in folded_texts
        for start in range(len(text) - GRAM_LENGTH + 1)
    }
    return sorted(found)
