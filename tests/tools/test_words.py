"""The check of words: what it finds as a name, what it leaves alone, and what it tells the writer."""

from pathlib import Path

import pytest

from tools.words import WORDS, main, problems


def found_in(root: Path, files: dict[str, str]) -> list[str]:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return list(problems(root, [root / name for name in files]))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("class Verdict: ...", "class Verdict"),
        ("class _Verdict: ...", "class _Verdict"),
        ("def told(): ...", "function told"),
        ("async def _told(): ...", "function _told"),
        ("def read(given, /): ...", "argument given"),
        ("def read(*, most_rows=1): ...", "argument most_rows"),
        ("def read(*asked): ...", "argument asked"),
        ("def test_a_sentence(wanted): ...", "argument wanted"),
        ("class Page:\n    longest: int", "field longest"),
        ("class Page:\n    shown = 1", "field shown"),
        ("class Page:\n    def __init__(self):\n        self._standings = 1", "field _standings"),
        ("def read(self):\n    try: ...\n    except OSError:\n        self.told = 1", "field told"),
        ("def read(self):\n    match self:\n        case 1: self.shown += 1", "field shown"),
        ("def read(self):\n    for self.asked in (): ...", "field asked"),
        ("async def read(self):\n    async with self as (page, self.given): ...", "field given"),
        ("if True:\n    ...\nelse:\n    def wanted(): ...", "function wanted"),
        ("MOST_ROWS = 3", "constant MOST_ROWS"),
        ("_SEEN, _KNOWN = 1, 2", "constant _KNOWN"),
    ],
)
def test_an_old_word_is_found_in_each_kind_of_name(tmp_path: Path, text: str, name: str) -> None:
    (problem,) = found_in(tmp_path, {"tests/page.py": text})
    assert name in problem
    assert problem.startswith("tests/page.py:")


def test_an_old_word_is_found_as_the_name_of_a_module_or_a_package(tmp_path: Path) -> None:
    problem, other = found_in(tmp_path, {"src/aop/standings.py": "", "src/aop/gates/__init__.py": ""})
    assert "module standings" in problem
    assert "module gates" in other


@pytest.mark.parametrize(
    "text",
    [
        "def read():\n    told = 1\n    return told",
        "sort(key=lambda given: given)",
        '"""The given page, as it was asked for."""',
        "def test_a_caller_is_told(): ...",
        "def at_most(): ...",
        "def look_up(): ...",
        "class KnownTask: ...",
    ],
)
def test_locals_sentences_and_longer_names_are_free(tmp_path: Path, text: str) -> None:
    assert found_in(tmp_path, {"tests/page.py": text}) == []


@pytest.mark.parametrize(
    "name",
    [
        "most",
        "most_rows",
        "longest",
        "below",
        "lanes",
        "told",
        "verdict",
        "owe",
        "debts",
        "doubtful",
        "look",
        "lose",
        "Over",
        "Standings",
        "Trail",
        "Passage",
        "shown",
        "EndedByLeaving",
        "HandOn",
        "calm_collector",
        "Gates",
        "Outside",
        "known",
        "given",
        "wanted",
        "asked",
    ],
)
def test_every_word_of_the_table_is_refused_with_what_to_write(tmp_path: Path, name: str) -> None:
    (problem,) = found_in(tmp_path, {"proof/page.py": f"def {name}(): ..."})
    assert any(problem.endswith(f"write {word.use}") for word in WORDS)


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("Company", "BatchingWindow"),
        ("Moments", "TtlCache"),
        ("PrincipalTurns", "Yielder, or KeyedLocks"),
        ("Meanwhile", "on_sent"),
        ("Life", "EpochRow"),
        ("Outlook", "what the thing holds"),
        ("OutlookRow", "what the thing holds"),
        ("_Named", "the noun that it is: request, unit, result, row …"),
        ("SeenResult", "the noun that it is: request, unit, result, row …"),
        ("LearnedCalls", "the noun that it is: request, unit, result, row …"),
    ],
)
def test_a_class_of_the_product_is_called_by_a_noun_of_the_field(tmp_path: Path, name: str, use: str) -> None:
    (problem,) = found_in(tmp_path, {"src/aop/page.py": f"class {name}: ..."})
    assert problem == f"src/aop/page.py:1: class {name} uses an old word; write {use}"


def test_words_that_are_no_names_of_classes_are_free_elsewhere(tmp_path: Path) -> None:
    free = "def seen(place): ...\nclass NamedMessage:\n    served: int\n    life = 1\nclass SeenInstallation: ...\n"
    assert found_in(tmp_path, {"src/aop/page.py": free, "tests/page.py": "class Company: ..."}) == []


def test_a_place_is_a_class_in_documents_and_a_position_in_a_sequence(tmp_path: Path) -> None:
    text = "class _Place: ..."
    (problem,) = found_in(tmp_path, {"src/aop/contracts/page.py": text, "src/aop/ledger/page.py": text})
    assert problem == "src/aop/ledger/page.py:1: class _Place uses an old word; write Position, QueueEntry, or depth"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('"""For whoever asks."""', 1, "whoever"),
        ('"""One page.\n\nNobody reads it.\n"""', 3, "Nobody"),
        ('def read():\n    """The caller is\n    told so."""', 2, "is told"),
        ('class Page:\n    rows: int\n    """None where people were then told."""', 3, "were then told"),
        ('LIMIT = 3\n"""Of what is kept."""', 2, "what is kept"),
    ],
)
def test_a_docstring_of_the_product_that_speaks_the_dialect_is_found(
    tmp_path: Path, text: str, line: int, said: str
) -> None:
    (problem,) = found_in(tmp_path, {"src/aop/page.py": text})
    assert problem.startswith(f'src/aop/page.py:{line}: a docstring says "{said}"; write ')


@pytest.mark.parametrize(
    "text",
    [
        '"""The value that was found. It is kept for an hour, unless the caller says otherwise."""',
        '"""The user `nobody` of the system."""',
        'ANSWER = "nobody is told"',
        "# Nobody waits here.",
        'def share():\n    """Whoever has the link can use it.\n\n    Example: aop share\n    """',
    ],
)
def test_plain_english_comments_values_and_help_texts_are_free(tmp_path: Path, text: str) -> None:
    assert found_in(tmp_path, {"src/aop/page.py": text}) == []


def test_docstrings_outside_the_product_are_free(tmp_path: Path) -> None:
    assert found_in(tmp_path, {"tests/page.py": '"""Nobody is told."""'}) == []


def test_a_word_that_one_room_gave_up_stays_free_in_the_others(tmp_path: Path) -> None:
    (problem,) = found_in(
        tmp_path, {"src/aop/local/logs.py": "class Journal: ...", "src/aop/ledger/log.py": "journal = 1"}
    )
    assert problem == "src/aop/local/logs.py:1: class Journal uses an old word; write UnitLogs"


def test_two_public_classes_of_the_product_with_one_name_are_found(tmp_path: Path) -> None:
    text = "class Answer: ...\nclass _Private: ...\n"
    (problem,) = found_in(tmp_path, {"src/aop/one.py": text, "src/aop/two.py": text, "tests/page.py": text})
    assert problem == "src/aop/two.py:1: src/aop/one.py has a class Answer too; rename the less known one"


def test_a_folder_without_files_is_no_folder_without_problems() -> None:
    with pytest.raises(SystemExit, match="nosuchfolder has no Python file"):
        main(["tools", "nosuchfolder"])
