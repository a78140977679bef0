"""Signed notes with Ed25519, and the head of a log as such a note (c2sp.org/signed-note, c2sp.org/tlog-checkpoint)."""

import base64
import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, TypeVar

from aop.contracts.signing import SigningKey, VerifyKey

K = TypeVar("K", "NoteKey", "NoteSigner")

_ED25519: Final = b"\x01"
_PRIVATE: Final = "PRIVATE+KEY+"
_MAX_BYTES: Final = 1 << 20
_MAX_SIGNATURES: Final = 100
_SIGNATURE: Final = re.compile(r"— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})")
_SIZE: Final = re.compile(r"0|[1-9][0-9]{0,15}", re.ASCII)


class NoteRefused(ValueError):
    """A key, note or checkpoint that is not what it must be; the text says why."""


@dataclass(frozen=True)
class NoteKey:
    """The public half of a key, with the name that stands in its signatures."""

    name: str
    public: VerifyKey

    @classmethod
    def parse(cls, text: str) -> "NoteKey":
        name, public = _parted(text)
        if len(public) != 32:
            raise NoteRefused("the key has another length than an Ed25519 key")
        return _as_named(cls(name, VerifyKey(public)), text)

    @property
    def id(self) -> bytes:
        return sha256(self.name.encode() + b"\n" + _ED25519 + self.public.raw).digest()[:4]

    @property
    def text(self) -> str:
        return f"{self.name}+{self.id.hex()}+{_base64(_ED25519 + self.public.raw)}"


@dataclass(frozen=True)
class NoteSigner:
    """A key with its private half, which signs notes under its name."""

    name: str
    key: SigningKey

    def __post_init__(self) -> None:
        if not self.name or "+" in self.name or not _is_one_word(self.name):
            raise NoteRefused("the name of a key has no spaces and no +, and is not empty")

    @classmethod
    def parse(cls, text: str) -> "NoteSigner":
        if not text.startswith(_PRIVATE):
            raise NoteRefused("this is not the private key of a watcher")
        name, seed = _parted(text.removeprefix(_PRIVATE))
        if len(seed) != 32:
            raise NoteRefused("the key has another length than an Ed25519 key")
        return _as_named(cls(name, SigningKey.of_seed(seed)), text)

    @property
    def public(self) -> NoteKey:
        return NoteKey(self.name, self.key.public)

    @property
    def text(self) -> str:
        return f"{_PRIVATE}{self.name}+{self.public.id.hex()}+{_base64(_ED25519 + self.key.seed)}"

    def signed(self, text: str) -> bytes:
        """The note: the text, which ends with a newline, and its signature."""
        signature = _base64(self.public.id + self.key.sign(text.encode()))
        return f"{text}\n— {self.name} {signature}\n".encode()


@dataclass(frozen=True)
class TreeCheckpoint:
    """The head of a log's tree, and which log it is."""

    origin: str
    size: int
    root: bytes

    def __post_init__(self) -> None:
        if not self.origin or not _is_one_word(self.origin) or len(self.root) != 32:
            raise NoteRefused("the origin of a checkpoint is one word, and its root has 32 bytes")

    @property
    def text(self) -> str:
        return f"{self.origin}\n{self.size}\n{_base64(self.root)}\n"

    @classmethod
    def parse(cls, text: str) -> "TreeCheckpoint":
        """Lines after the third are extensions, which say nothing here."""
        lines = text.removesuffix("\n").split("\n")
        if len(lines) < 3 or not all(lines) or _SIZE.fullmatch(lines[1]) is None:
            raise NoteRefused("the note is no checkpoint: its lines are origin, size and root")
        return cls(lines[0], int(lines[1]), _bytes_of(lines[2]))


def text_signed_by(key: NoteKey, note: bytes) -> str:
    """The text of a note if this key signed it; signatures of other keys count for nothing."""
    text, own = _read_note(note, key)
    if not own:
        raise NoteRefused(f"the note is not signed by {key.name} with this key")
    if not all(key.public.confirms(text.encode(), signature) for signature in own):
        raise NoteRefused(f"a signature of {key.name} is wrong")
    return text


def _read_note(note: bytes, key: NoteKey) -> tuple[str, list[bytes]]:
    """The text, and the signatures that say they are of this key."""
    if len(note) > _MAX_BYTES:
        raise NoteRefused("the note is too long")
    try:
        decoded = note.decode("utf-8")
    except UnicodeDecodeError:
        raise NoteRefused("the note is not UTF-8") from None
    if any(character < " " and character != "\n" for character in decoded):
        raise NoteRefused("the note has control characters")
    text, _, signatures = decoded.rpartition("\n\n")
    lines = signatures.removesuffix("\n").split("\n")
    parts = [_SIGNATURE.fullmatch(line) for line in lines]
    if not text or not signatures.endswith("\n") or len(lines) > _MAX_SIGNATURES or None in parts:
        raise NoteRefused("this is not a signed note: a text, an empty line, then signatures")
    found = [(part[1], _bytes_of(part[2])) for part in parts if part is not None]
    if any(len(raw) < 5 for _, raw in found):
        raise NoteRefused("a signature of the note is too short")
    return f"{text}\n", [raw[4:] for name, raw in found if (name, raw[:4]) == (key.name, key.id)]


def _parted(text: str) -> tuple[str, bytes]:
    name, *rest = text.split("+", 2)
    raw = _bytes_of(rest[1]) if len(rest) == 2 else b""
    if not name or not _is_one_word(name) or not raw.startswith(_ED25519):
        raise NoteRefused("a key is NAME+ID+KEY, with an Ed25519 key")
    return name, raw[1:]


def _as_named(key: K, text: str) -> K:
    """One spelling of each key, with the id that follows from it."""
    if key.text != text:
        raise NoteRefused("the id of the key is not that of its name and bytes")
    return key


def _is_one_word(text: str) -> bool:
    return not any(character.isspace() or character < " " for character in text)


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _bytes_of(text: str) -> bytes:
    try:
        raw = base64.b64decode(text, validate=True)
    except ValueError:
        raise NoteRefused("a text is no base64") from None
    if _base64(raw) != text:
        raise NoteRefused("a text is no base64 in its one spelling")
    return raw
