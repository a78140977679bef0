"""What the indexes of the Registry hold of a Card: folded text, hashes of its short pieces, and sortable precedence."""

import zlib
from collections.abc import Iterable, Sequence

from aop.base.semver import Version

_MAX_GRAM = 3
# Of SemVer precedence as text that sorts bytewise: `!` < `,` < every character of an identifier < `~`.
_RELEASE = "~"
_IDENTIFIER_START = ","
_IDENTIFIERS_END = "!"


def folded(text: str) -> str:
    """Unicode default case folding without normalisation. Both sides of a search are folded alike, whatever the
    locale of the store is."""
    return text.casefold()


def grams(*folded_texts: str) -> Sequence[int]:
    """Signed 32-bit hashes of all distinct pieces of one to three characters, in no order. A text that holds a
    substring has all grams of the substring. The reverse is not certain, so every search by grams also compares the
    text itself."""
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
    """The longest grams of a query only: they exclude all that its shorter ones would."""
    length = min(_MAX_GRAM, len(folded_query))
    pieces = {folded_query[start : start + length] for start in range(len(folded_query) - length + 1)}
    return _hashes(pieces - {""})


def precedence_text(version: Version) -> str:
    """SemVer precedence as text that sorts bytewise: each number has its length in front."""
    major, minor, patch, is_release, identifiers = version.precedence
    core = "".join(map(_number, (major, minor, patch)))
    if is_release:
        return core + _RELEASE
    parts = (f"1{text}" if kind else f"0{_number(number)}" for kind, number, text in identifiers)
    return core + "".join(_IDENTIFIER_START + part for part in parts) + _IDENTIFIERS_END


def _hashes(pieces: Iterable[str]) -> Sequence[int]:
    return [number - 2**31 for number in map(zlib.crc32, map(str.encode, pieces))]


def _number(number: int) -> str:
    digits = str(number)
    return f"{len(digits):03}{digits}"
