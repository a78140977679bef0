"""SemVer precedence as text that sorts bytewise, so that an index can find the highest version."""

from aop.base.semver import Version

_RELEASE = "~"
_IDENTIFIER_START = ","
_IDENTIFIERS_END = "!"


def precedence_text(version: Version) -> str:
    """Numbers carry their length in front; `!` < `,` < every character of an identifier < `~` does the rest."""
    major, minor, patch, is_release, identifiers = version.precedence
    core = "".join(map(_number, (major, minor, patch)))
    if is_release:
        return core + _RELEASE
    parts = (f"1{text}" if kind else f"0{_number(number)}" for kind, number, text in identifiers)
    return core + "".join(_IDENTIFIER_START + part for part in parts) + _IDENTIFIERS_END


def _number(number: int) -> str:
    digits = str(number)
    return f"{len(digits):03}{digits}"
