"""Every command and program in the documentation is followed as it is written, by a reader who does nothing else."""

import ast
import json
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from _pytest.mark.structures import ParameterSet

from tests.docs.blocks import OUTPUT, PARSED, ROOT, RUN, Block, blocks_of, indented_code, pages
from tests.docs.session import Place, follow, missing_lines
from tests.support.every import every

# tests/client/test_documentation.py runs it, block by block, and compares every character.
_ELSEWHERE = ROOT / "docs" / "guides" / "python-client.md"


def _followed(page: Path) -> Path | ParameterSet:
    return page if page.stem in _SHORT else pytest.param(page, marks=pytest.mark.long)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


FOLLOWED = [page for page in pages() if page != _ELSEWHERE and any(block.word in RUN for block in blocks_of(page))]
_SHORT = frozenset({"README", "quickstart", "publish", "nested-calls", "call-it"})
"""The way of every newcomer; the other guides are followed with the long tests."""
_EARLY_END = ROOT / "docs" / "guides" / "early-end.md"


@pytest.mark.second_ring
@pytest.mark.parametrize("page", [_followed(page) for page in FOLLOWED if page != _EARLY_END], ids=name)
def test_every_block_of_a_page_works_in_order(page: Path, place: Place) -> None:
    _require_working(page, place)


@pytest.mark.rows("DOOR-04")
@pytest.mark.long
def test_an_agent_that_stops_in_the_middle_is_an_error_through_every_door(place: Place) -> None:
    _require_working(_EARLY_END, place)


def _require_working(page: Path, place: Place) -> None:
    blocks = blocks_of(page)
    ran = follow(blocks, place)
    for block, output in ran:
        assert block.refused is None or block.refused in output, f"line {block.line}:\n{output}"
        expected = _after(blocks, block)
        missing = missing_lines(expected.text, output) if expected else []
        assert not missing, f"line {expected and expected.line}: {missing}\nis not in:\n{output}"


@every("page", pages(), ids=name)
def test_every_block_says_what_it_is_and_can_be_read(page: Path) -> None:
    if page == _ELSEWHERE:
        return
    assert indented_code(page) == []
    for block in blocks_of(page):
        assert block.word in RUN | PARSED | OUTPUT, f"line {block.line}: {block.word!r}"
        _require_readable(block)


def test_the_guides_that_must_be_tried_are() -> None:
    tried = {page.stem for page in FOLLOWED}
    assert {"README", "quickstart", "publish", "install", "invoke", "stream", "nested-calls", "recover"} <= tried
    assert {"call-it", "early-end", "node-agent"} <= tried


def _after(blocks: list[Block], block: Block) -> Block | None:
    follower = blocks[blocks.index(block) + 1 :][:1]
    return follower[0] if follower and follower[0].word == "text" else None


def _require_readable(block: Block) -> None:
    where = f"line {block.line}"
    if block.word in {"sh", "shell"}:
        checked = subprocess.run(["/bin/bash", "-n"], input=block.text, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, f"{where}: {checked.stderr}"
    elif block.word in {"py", "python"}:
        compile(block.text, where, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    elif block.word == "json":
        json.loads(block.text)
    elif block.word == "yaml":
        assert list(yaml.safe_load_all(block.text))
    elif block.word == "toml":
        tomllib.loads(block.text)
