"""The check of the package's name: no file may send a reader to the package of somebody else."""

from pathlib import Path

import pytest

from tools.package_name import problems


def found_in(folder: Path, name: str, text: str) -> list[str]:
    (folder / name).write_text(text)
    return list(problems(folder, [folder / name]))


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("page.md", "    pip install aop"),
        ("page.md", "Type `pip install 'aop'`, then go on."),
        ("page.md", 'pip install --upgrade "aop[agent]" uvicorn'),
        ("page.md", "uv tool install aop"),
        ("page.md", "uv pip install --python .venv aop==0.2.0"),
        ("page.md", "pipx install aop"),
        ("page.md", "the extra `aop[otel]`"),
        ("table.json", '"install": "pip install aop"'),
        ("requirements.txt", "aop"),
        ("requirements.in", "aop[agent]>=0.2"),
        ("pyproject.toml", 'dependencies = ["aop>=0.2"]'),
        ("message.py", "\"needs more: pip install 'aop[cli]'\""),
        ("Dockerfile", "RUN pip install dist/aop-0.2.0-py3-none-any.whl"),
    ],
)
def test_a_line_that_installs_the_package_of_somebody_else_is_found(tmp_path: Path, name: str, line: str) -> None:
    (problem,) = found_in(tmp_path, name, f"first\n{line}\n")
    assert problem == f"{name}:2: the package is agent-operating-platform; aop is somebody else's on the package index"


@pytest.mark.parametrize(
    "line",
    [
        "pip install 'agent-operating-platform[agent]==0.2.0'",
        "aop install aop:summarizer",
        "/opt/aop/bin/pip install -r requirements.lock",
        "pip install --find-links dist agent-operating-platform; aop up",
        "image: aop:0.2.0",
        "uv tool install agent-operating-platform && aop --version",
    ],
)
def test_the_command_the_import_and_the_right_package_are_left_alone(tmp_path: Path, line: str) -> None:
    assert found_in(tmp_path, "page.md", f"{line}\n") == []
