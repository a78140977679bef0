"""The code blocks of a page, and what the word after the fence says about each.

`sh` and `python` are run, top to bottom; a `text` block after one holds lines of its output, `…` standing for
anything. The title `Refused: CODE` means that the commands must fail with that code, and `In a separate terminal`
that they go on running. `shell`, `py` and the languages of files are for other machines or are parts of a program: they
are only parsed. A `py`, `ts` or `json` block whose title is the name of such a file is saved under that name: one in a
folder, which a command has made, when its turn comes, any other before the page begins. The title `Add to MEMBER in
FILE` means that the block joins that list of a JSON file.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUN = frozenset({"sh", "python"})
PARSED = frozenset({"shell", "py", "json", "yaml", "toml", "ini", "sql", "ts", "js"})
OUTPUT = frozenset({"text"})
_FILES = frozenset({"py", "ts", "json"})
_FENCE = re.compile(r"^```(?P<word>[\w-]*)(?: title=\"(?P<title>[^\"]*)\")?$")
_REFUSED = "Refused: "
_BACKGROUND = "In a separate terminal"
_ADDED = re.compile(r"Add to (?P<member>\w+) in (?P<file>\S+\.json)")


@dataclass(frozen=True)
class Block:
    line: int
    word: str
    title: str
    text: str

    @property
    def refused(self) -> str | None:
        return self.title.removeprefix(_REFUSED) if self.title.startswith(_REFUSED) else None

    @property
    def is_file(self) -> bool:
        """A file that the reader saves under this name."""
        return self.word in _FILES and self.title.endswith(f".{self.word}") and self.added is None

    @property
    def replaces(self) -> bool:
        """A file of a project that a command of the page has made."""
        return self.is_file and "/" in self.title

    @property
    def added(self) -> tuple[str, str] | None:
        """The JSON file that the reader opens, and the list in it to which this item is added."""
        match = _ADDED.fullmatch(self.title)
        return None if match is None else (match["file"], match["member"])

    @property
    def background(self) -> bool:
        return self.title == _BACKGROUND


def pages() -> list[Path]:
    """Every page of the documentation, the README among them; generated ones and records of decisions too."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks_of(page: Path) -> list[Block]:
    found, opened, lines = list[Block](), None, list[str]()
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        if opened is None:
            if line.lstrip().startswith("```"):
                opened = _opening(page, number, line)
                lines = []
        elif line == "```":
            found.append(Block(opened.line, opened.word, opened.title, "\n".join(lines)))
            opened = None
        else:
            lines.append(line)
    assert opened is None, f"{page}:{opened and opened.line}: the block is never closed"
    return found


def indented_code(page: Path) -> list[int]:
    """Lines that a reader sees as code although no fence says what it is."""
    found, fenced, blank = list[int](), False, True
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        if not fenced and blank and line.startswith("    "):
            found.append(number)
        blank = not line.strip()
    return found


def _opening(page: Path, number: int, line: str) -> Block:
    fence = _FENCE.match(line)
    assert fence, f"{page}:{number}: {line} is not a fence that the tests understand"
    return Block(number, fence["word"], fence["title"] or "", "")
