"""Text that must not be shown: hidden in repr, str and formatting, given out only by asking for it."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Secret:
    _text: str = field(repr=False)

    def reveal(self) -> str:
        return self._text

    def __str__(self) -> str:
        return "(hidden)"
