"""./dev without its set-up: what it says, and how it reads the outcome of the tests."""

import hashlib
import shutil
import subprocess
import sys
import tarfile
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

from aop import __version__
from tools.environments import ROOT, Environment, SetupFailed, ready
from tools.test_run import run_tests

pytestmark = pytest.mark.second_ring

SCRIPT = Path(__file__).parents[2] / "dev"


def dev(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, *arguments], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture
def script() -> ModuleType:
    loader = SourceFileLoader("dev_script", str(SCRIPT))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("arguments", [(), ("help",), ("--help",)])
def test_help_names_every_command_from_any_folder(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    answer = dev(*arguments, cwd=tmp_path)
    assert answer.returncode == 0
    for command in ("up", "test", "check", "contracts", "lock", "bench", "aop"):
        assert f"\n  {command} " in answer.stdout


def test_the_version_is_that_of_the_package(tmp_path: Path) -> None:
    assert dev("--version", cwd=tmp_path).stdout == f"agent-operating-platform {__version__}\n"


def test_an_unknown_command_is_refused_and_the_known_ones_are_shown(tmp_path: Path) -> None:
    answer = dev("upp", cwd=tmp_path)
    assert answer.returncode == 2
    assert "no command 'upp'" in answer.stdout
    assert "usage: ./dev" in answer.stdout


@pytest.mark.long
def test_failed_tests_are_named_so_that_each_can_be_run_alone(tmp_path: Path) -> None:
    (tmp_path / "test_sample.py").write_text(
        "import pytest\n"
        "def test_good(): pass\n"
        "@pytest.mark.parametrize('text', ['a b', 'c - d'])\n"
        "def test_bad(text): assert text == ''\n"
        "@pytest.fixture\n"
        "def broken(): raise OSError('no')\n"
        "def test_error(broken): pass\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    code, failures = run_tests([*command, str(tmp_path / "test_sample.py")])
    names = [name.rpartition("::")[2] for name in failures]
    assert code == 1
    assert sorted(names) == ["test_bad[a b]", "test_bad[c - d]", "test_error"]


def test_a_child_gets_no_variable_that_would_redirect_or_slow_it(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "VIRTUAL_ENV"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("KEPT", "1")
    environment = script.child_environment()
    assert environment["KEPT"] == "1"
    assert not {"PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "VIRTUAL_ENV"} & set(environment)


def test_up_needs_the_environment_of_every_sample_agent_and_other_commands_none(script: ModuleType) -> None:
    def names(*arguments: str) -> list[str]:
        return [environment.name for environment in script.environments_of(list(arguments))]

    samples = sorted(f"agents/{path.parent.name}" for path in SCRIPT.parent.glob("agents/*/requirements.lock"))
    assert samples
    assert names("up", "--data", "x") == ["run", *samples]
    assert names("up", "--no-agents") == names("up", "--help") == names("token", "list") == names() == ["run"]


def test_an_environment_is_made_from_its_lock_file_once(tmp_path: Path) -> None:
    wanted, said = Environment(f"test-{tmp_path.name}", ROOT / "requirements-uv.lock", (tmp_path,), 5), list[str]()
    (tmp_path / "sample_module.py").touch()
    try:
        ready([wanted], said.append)
        assert [line for line in said if wanted.name in line]
        subprocess.run([wanted.python, "-c", "import sample_module, uv"], check=True)
        said.clear()
        ready([wanted], said.append)
        assert said == []
        wanted.stamp.unlink()  # as a set-up that was interrupted leaves it
        ready([wanted], said.append)
        assert "first time" in said[0]
    finally:
        shutil.rmtree(wanted.folder, ignore_errors=True)
        wanted.folder.with_name(f"{wanted.folder.name}.lock").unlink(missing_ok=True)


def test_an_environment_of_another_interpreter_is_made_anew(tmp_path: Path) -> None:
    other = tmp_path / "python3"
    other.symlink_to(Path(sys.base_prefix) / "bin" / "python3")
    first, said = Environment(f"test-{tmp_path.name}", ROOT / "requirements-uv.lock", (), 5), list[str]()
    left_over = first.folder / "left-over"
    try:
        ready([first], said.append)
        left_over.touch()
        said.clear()
        ready([first._replace(paths=(tmp_path,))], said.append)
        assert "a few seconds" in said[0]
        assert left_over.exists()
        said.clear()
        ready([first._replace(interpreter=other)], said.append)
        assert "first time" in said[0]
        assert not left_over.exists()
    finally:
        shutil.rmtree(first.folder, ignore_errors=True)
        first.folder.with_name(f"{first.folder.name}.lock").unlink(missing_ok=True)


def test_a_set_up_that_cannot_be_finished_says_which_step_failed(tmp_path: Path) -> None:
    lock = ROOT / ".dev" / f"{tmp_path.name}.txt"
    lock.write_text("this is no requirement\n")
    wanted = Environment(f"test-{tmp_path.name}", lock, (), 5)
    try:
        with pytest.raises(SetupFailed, match="this failed; repeat to try again"):
            ready([wanted], lambda _: None)
        assert not wanted.stamp.exists()
    finally:
        shutil.rmtree(wanted.folder, ignore_errors=True)
        wanted.folder.with_name(f"{wanted.folder.name}.lock").unlink(missing_ok=True)
        lock.unlink()


def test_a_package_without_a_wheel_is_named_and_its_code_is_not_run(tmp_path: Path) -> None:
    folder, ran = tmp_path / "hostile_thing-1.0", tmp_path / "ran"
    folder.mkdir()
    (folder / "setup.py").write_text(f"import pathlib; pathlib.Path({str(ran)!r}).touch()\n")
    (folder / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: hostile-thing\nVersion: 1.0\n")
    packed = tmp_path / "hostile_thing-1.0.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        archive.add(folder, folder.name)
    digest = hashlib.sha256(packed.read_bytes()).hexdigest()
    lock = ROOT / ".dev" / f"{tmp_path.name}.txt"
    lock.write_text(f"--no-index\n--find-links {tmp_path}\nhostile-thing==1.0 --hash=sha256:{digest}\n")
    wanted = Environment(f"test-{tmp_path.name}", lock, (), 5)
    try:
        with pytest.raises(SetupFailed, match=r"nothing is compiled here\n.*has no usable wheels"):
            ready([wanted], lambda _: None)
        assert not ran.exists()
        assert not wanted.stamp.exists()
    finally:
        shutil.rmtree(wanted.folder, ignore_errors=True)
        wanted.folder.with_name(f"{wanted.folder.name}.lock").unlink(missing_ok=True)
        lock.unlink()
