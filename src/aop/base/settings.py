"""Reads settings from an environment and reports every problem at once, by name, never by value; hides secrets."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

from aop.base.database_url import single_host_urls
from aop.base.ids import is_safe_identifier

T = TypeVar("T")
Parse = Callable[[str], T]
"""Turns the text of a setting into its value; a ValueError's text says what is wrong without repeating the value."""

MAX_BYTES = 2_147_483_647
_DIGITS = re.compile(r"[0-9]{1,12}", re.ASCII)
_VISIBLE = re.compile(r"[\x21-\x7e]+", re.ASCII)


@dataclass(frozen=True)
class Secret:
    _text: str = field(repr=False)

    def reveal(self) -> str:
        return self._text

    def __str__(self) -> str:
        return "(hidden)"


@dataclass(frozen=True)
class SettingProblem:
    name: str
    reason: str


class SettingsRefused(Exception):
    """At least one setting is missing, unreadable or contradictory."""

    def __init__(self, problems: list[SettingProblem]) -> None:
        super().__init__("; ".join(f"{problem.name} {problem.reason}" for problem in problems))
        self.problems = tuple(problems)


class SettingsReader:
    """Collects problems while a settings value is built; `conclude` refuses if there were any.

    After a problem the returned value is a placeholder, which is safe because `conclude` raises before anyone uses it.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._problems: list[SettingProblem] = []

    def required(self, name: str, parse: Parse[T]) -> T:
        text = self._environment.get(name)
        if text is None:
            self.refuse(name, "is required and not set")
            return cast(T, None)
        return self._parsed(name, text, parse)

    def optional(self, name: str, parse: Parse[T], default: T) -> T:
        text = self._environment.get(name)
        return default if text is None else self._parsed(name, text, parse)

    def refuse(self, name: str, reason: str) -> None:
        self._problems.append(SettingProblem(name, reason))

    def conclude(self) -> None:
        if self._problems:
            raise SettingsRefused(self._problems)

    def _parsed(self, name: str, text: str, parse: Parse[T]) -> T:
        if not text.strip():
            self.refuse(name, "is set but blank")
        elif text != text.strip():
            self.refuse(name, "has blanks around its value")
        else:
            try:
                return parse(text)
            except ValueError as problem:
                self.refuse(name, str(problem))
        return cast(T, None)


def integer(minimum: int, maximum: int) -> Parse[int]:
    def parse(text: str) -> int:
        if _DIGITS.fullmatch(text) is None:
            raise ValueError("must be plain digits")
        if not minimum <= int(text) <= maximum:
            raise ValueError(f"must be between {minimum} and {maximum}")
        return int(text)

    return parse


byte_count = integer(1, MAX_BYTES)


def choice(*names: str) -> Parse[str]:
    def parse(text: str) -> str:
        if text not in names:
            raise ValueError(f"must be one of {', '.join(names)}")
        return text

    return parse


def identifier(text: str) -> str:
    if not is_safe_identifier(text):
        raise ValueError("must be a safe identifier")
    return text


def visible_ascii(text: str) -> str:
    if _VISIBLE.fullmatch(text) is None:
        raise ValueError("must be visible ASCII without blanks")
    return text


def database_url(text: str) -> Secret:
    single_host_urls(text)
    return Secret(text)


def secret_token(text: str) -> Secret:
    return Secret(visible_ascii(text))
