"""What the Registry stores of a Card to compare with: folded text, and sortable precedence."""

from aop.base.semver import Version

# Of SemVer precedence as text that sorts bytewise: `!` < `,` < every character of an identifier < `~`.
_RELEASE = "~"
_IDENTIFIER_START = ","
_IDENTIFIERS_END = "!"


def folded(text: str) -> str:
    """Unicode default case folding without normalisation. Both sides of a search are folded alike, whatever the
    locale of the store is."""
    return text.casefold()


def precedence_text(version: Version) -> str:
    """SemVer precedence as text that sorts bytewise: each number has its length in front."""
    major, minor, patch, is_release, identifiers = version.precedence
    core = "".join(map(_number, (major, minor, patch)))
    if is_release:
        return core + _RELEASE
    parts = (f"1{text}" if kind else f"0{_number(number)}" for kind, number, text in identifiers)
    return core + "".join(_IDENTIFIER_START + part for part in parts) + _IDENTIFIERS_END


def _number(number: int) -> str:
    digits = str(number)
    return f"{len(digits):03}{digits}"
