"""Area `long-tests`: the tests that `./dev test` leaves out for their length, in their thorough form."""

import asyncio
import re
import sys
from pathlib import Path

from proof.area import Area, Figure, Findings, Run, proves
from tools.environments import ROOT

_CHOSEN = "long or thorough"
_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+)$", re.MULTILINE)
_PASSED = re.compile(r"\b(\d+) passed\b")


@proves(
    "Every further state of every screen is accessible in light, dark and narrow; every guide is followed to its end;"
    " every generated call is answered within the document; and what else takes too long for each change."
)
async def prove(run: Run) -> Findings:
    findings, log = Findings(), run.folder / "pytest.txt"
    marks = ["-m", _CHOSEN, *(["--thorough"] if run.full else [])]
    code = await _pytest(log, *marks, "-n", "2", "-rfE")
    text = log.read_text("utf-8", "replace")
    findings.broken += _FAILED.findall(text)
    findings.require(code == 0, f"the tests ended with {code}")
    passed = _PASSED.search(text)
    findings.figures.append(Figure("long tests that passed", int(passed[1]) if passed else 0, at_least=1))
    return findings


async def _pytest(log: Path, *arguments: str) -> int:
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "pytest", *arguments, cwd=ROOT, stdout=output, stderr=output
        )
        return await process.wait()


AREA = Area("long-tests", "Long tests", prove, (prove,), alone=True)
