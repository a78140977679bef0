"""How a text is written where the encoding of the terminal lacks a character, as with LC_ALL=C."""

import codecs

NARROW = "aop-narrow"
"""The name for `errors=` of a stream."""
_DRAWN_NARROW = {"█": "#", "▏": "|", "│": "|", "└": "`", "├": "|", "─": "-", "→": "->", "…": "..."}


def _narrow(error: UnicodeError) -> tuple[str, int]:
    """What we draw has a form in ASCII; any other character that the encoding lacks costs that character alone."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(_DRAWN_NARROW.get(sign, "?") for sign in missing), error.end


codecs.register_error(NARROW, _narrow)
