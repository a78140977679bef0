"""One run of the kit: one sample Agent, one category, and what the kit counted."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from interop.tck.identity import Identity
from tests.agent.samples import SEED, RunningSample
from tools.environments import ROOT, Environment, child_environment

KIT = Environment("tck", ROOT / "interop" / "tck" / "requirements.lock", (ROOT / "src", ROOT), 15)
SECONDS = 900.0
"""The longest category takes about a minute; a kit that hangs is an error, not a wait without end."""


class KitFailed(Exception):
    """The kit did not come to a result; the text is the end of its output."""


@dataclass(frozen=True)
class Count:
    """What one category came to. As in the kit's own summary, an expected failure is neither passed nor failed."""

    passed: int
    failed: int
    skipped: int

    def __str__(self) -> str:
        return f"{self.passed}/{self.failed}/{self.skipped}"

    def reaches(self, bar: "Count") -> bool:
        return self.passed >= bar.passed and self.failed <= bar.failed and self.skipped <= bar.skipped


BAR = {
    "mandatory": Count(30, 0, 3),
    "capabilities": Count(27, 0, 46),
    "quality": Count(13, 1, 0),
    "features": Count(15, 0, 1),
}
"""Acceptance row FOR-05."""


class _Test(msgspec.Struct):
    nodeid: str
    outcome: str


class _Report(msgspec.Struct):
    tests: list[_Test]
    summary: dict[str, int]


@dataclass(frozen=True)
class CategoryResult:
    category: str
    count: Count
    failures: Sequence[str]

    @property
    def reached(self) -> bool:
        return self.count.reaches(BAR[self.category])


def run_category(kit: Path, sample: RunningSample, category: str, folder: Path) -> CategoryResult:
    """Runs the kit's own program, in its folder, with our signer inside."""
    written = folder / f"{sample.name}-{category}.json"
    options = f"-p interop.tck.signer -p no:cacheprovider --json-report --json-report-file={written}"
    identity = Identity(sample.router.audience, sample.router.agent_id, sample.card.skills[0].id, SEED)
    command = [str(KIT.python), "run_tck.py", "--sut-url", sample.endpoint, "--category", category]
    ran = subprocess.run(
        [*command, "--transports", "jsonrpc"],
        cwd=kit,
        env=child_environment() | identity.environment() | {"PYTEST_ADDOPTS": options},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if not written.is_file():
        raise KitFailed((ran.stdout + ran.stderr)[-4000:])
    return _read(category, written.read_bytes())


def _read(category: str, content: bytes) -> CategoryResult:
    report = msgspec.json.decode(content, type=_Report)
    failures = [test.nodeid for test in report.tests if test.outcome in {"failed", "error"}]
    passed, skipped = report.summary.get("passed", 0), report.summary.get("skipped", 0)
    return CategoryResult(category, Count(passed, len(failures), skipped), failures)
