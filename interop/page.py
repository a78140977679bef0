"""docs/interop.md: the words are written by hand, the tables between two marks by the commands that measured them."""

import re
from pathlib import Path

from tools.environments import ROOT

PAGE = ROOT / "docs" / "interop.md"


def write_section(name: str, lines: list[str], page: Path = PAGE) -> None:
    """Puts these lines between `<!-- NAME -->` and `<!-- end of NAME -->`."""
    text = page.read_text("utf-8")
    section = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->\n)", re.DOTALL)
    if section.search(text) is None:
        raise ValueError(f"{page.name} has no section {name}")
    content = "\n".join(["", *lines, ""]) + "\n"
    page.write_text(section.sub(lambda found: found[1] + content + found[2], text), "utf-8")
