"""Semantic versions: strict reading of SemVer 2.0.0, and precedence."""

import re
from dataclasses import dataclass, field
from typing import Self

MAX_VERSION_LENGTH = 128

NUMBER = r"(?:0|[1-9][0-9]*+)"
_IDENTIFIER = rf"(?:{NUMBER}(?![-0-9A-Za-z])|[0-9]*+[-A-Za-z][-0-9A-Za-z]*+)"
PRERELEASE = rf"{_IDENTIFIER}(?:\.{_IDENTIFIER})*+"
BUILD = r"[-0-9A-Za-z]++(?:\.[-0-9A-Za-z]++)*+"
_VERSION = re.compile(
    rf"({NUMBER})\.({NUMBER})\.({NUMBER})(?:-({PRERELEASE}))?(?:\+({BUILD}))?",
    re.ASCII,
)

# A numeric identifier is (0, number, ""), any other (1, 0, text): numbers come first and compare as numbers.
_Identifier = tuple[int, int, str]
# The three numbers, then whether it is a release, then the pre-release identifiers.
Precedence = tuple[int, int, int, bool, tuple[_Identifier, ...]]


class VersionSyntax(ValueError):
    """The text is not a version by SemVer 2.0.0."""


@dataclass(frozen=True, slots=True)
class Version:
    """Equal when spelled equally: versions that differ only in build metadata are different versions."""

    text: str
    precedence: Precedence = field(compare=False, repr=False)
    build: str = field(compare=False, repr=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        match = _VERSION.fullmatch(text) if len(text) <= MAX_VERSION_LENGTH else None
        if match is None:
            raise VersionSyntax("not a SemVer 2.0.0 version")
        major, minor, patch, prerelease, build = match.groups()
        return cls(text, precedence_of(int(major), int(minor), int(patch), prerelease), build or "")

    @property
    def is_prerelease(self) -> bool:
        return not self.precedence[3]

    @property
    def rank(self) -> tuple[Precedence, str]:
        """Orders all versions: by precedence, then by the bytes of the text, which is ASCII."""
        return self.precedence, self.text


def precedence_of(major: int, minor: int, patch: int, prerelease: str | None = None) -> Precedence:
    if prerelease is None:
        return major, minor, patch, True, ()
    return major, minor, patch, False, tuple(map(_identifier, prerelease.split(".")))


def _identifier(text: str) -> _Identifier:
    return (0, int(text), "") if text.isdigit() else (1, 0, text)
