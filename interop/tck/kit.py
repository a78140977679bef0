"""One run of the kit: one sample Agent, one category, and what the kit counted."""

import subprocess
from collections.abc import Mapping, Sequence
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


@dataclass(frozen=True)
class KitRun:
    """What one run of the kit's own program counted, and the tests that failed."""

    count: Count
    failures: Sequence[str]


def run_category(kit: Path, sample: RunningSample, category: str, folder: Path) -> CategoryResult:
    """One category of tests at one sample Agent, with our signer inside."""
    identity = Identity(sample.router.audience, sample.router.agent_id, sample.card.skills[0].id, SEED)
    command = ["run_tck.py", "--sut-url", sample.endpoint, "--category", category, "--transports", "jsonrpc"]
    written = folder / f"{sample.name}-{category}.json"
    run = run_kit(kit, command, "interop.tck.signer", identity.environment(), written)
    return CategoryResult(category, run.count, run.failures)


def run_kit(kit: Path, command: Sequence[str], plugin: str, environment: Mapping[str, str], written: Path) -> KitRun:
    """Runs the kit's own program, in its folder, with our plugin inside."""
    options = f"-p {plugin} -p no:cacheprovider --json-report --json-report-file={written}"
    ran = subprocess.run(
        [str(KIT.python), *command],
        cwd=kit,
        env=child_environment() | dict(environment) | {"PYTEST_ADDOPTS": options},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if not written.is_file():
        raise KitFailed((ran.stdout + ran.stderr)[-4000:])
    report = msgspec.json.decode(written.read_bytes(), type=_Report)
    failures = [test.nodeid for test in report.tests if test.outcome in {"failed", "error"}]
    passed, skipped = report.summary.get("passed", 0), report.summary.get("skipped", 0)
    return KitRun(Count(passed, len(failures), skipped), failures)
