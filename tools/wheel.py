"""`./dev wheel`: builds the package, with the Console in it, and writes beside it what everything is made of."""

import sys
from collections.abc import Sequence
from pathlib import Path

import aop
from aop.base.distribution import NAME
from tools import sbom
from tools.environments import ROOT, Say, SetupProgress, child_environment

VERSION = aop.__version__
__all__ = ["NAME", "VERSION", "build"]


def build(python: Path, arguments: Sequence[str], say: Say) -> int:
    folder = Path(*arguments[:1] or ["dist"]).absolute()
    command = [str(python), "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    SetupProgress.of(say).run("the wheel", command, child_environment(), folder=ROOT)
    say(f"wrote {sbom.write(folder)}, the bill of materials")
    (wheel,) = folder.glob(f"agent_operating_platform-{VERSION}-*.whl")
    say(f"built {wheel}; install it with:")
    print(f"  uv tool install '{NAME}[local] @ {wheel.as_uri()}'", file=sys.stdout, flush=True)
    return 0
