"""Follows a page in one shell: every block in order, what each wrote kept apart, long-running ones ended afterwards."""

import os
import re
import signal
import subprocess
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aop.agent.guard.card import PUBLIC_CARD_PATH
from aop.base import assets
from tests.docs.blocks import RUN, Block
from tests.support.waiting import PATIENCE_SECONDS
from tools.console_build import CONSOLE, ready_node

_PLATFORM = "./dev up"
# As in the README, `aop` stands for `./dev aop`. Tests run side by side, so an Agent has a port of its own, and the
# Python of a sample, or that of a2a-sdk, instead of an environment that would have to be made.
_PREPARE = """
set -e -o pipefail
aop() {
    case "$1 ${2-}" in
        "init "*) shift; python3 -m aop init --port "$AGENT_PORT" "$@" ;;
        "front "*) shift; python3 -m aop front --listen "127.0.0.1:$AGENT_PORT" "$@" ;;
        "dev "*) shift; exec python3 -m aop dev --python "$AGENT_PYTHON" "$@" ;;
        "agent run") shift 2; exec python3 -m aop agent run --python "$AGENT_PYTHON" "$@" ;;
        *) python3 -m aop "$@" ;;
    esac
}
python() { "$SDK_PYTHON" "$@"; }
npx() { "./node_modules/.bin/$@"; }
serving() {
    for _ in $(seq 100); do
        if python3 -c "import urllib.request as r; r.urlopen('http://127.0.0.1:$2')"; then return 0; fi
        kill -0 "$1" || break
        sleep 0.2
    done 2> /dev/null
    echo "the Agent does not serve"; return 1
}
ended() { kill "$1"; wait "$1" || true; }
add_to() {
    python3 - "$@" <<'END'
import json, pathlib, sys
file, member, item = pathlib.Path(sys.argv[1]), sys.argv[2], json.loads(pathlib.Path(sys.argv[3]).read_text())
document = json.loads(file.read_text())
document[member].append(item)
file.write_text(json.dumps(document, indent=2))
END
}
"""


@dataclass(frozen=True)
class Place:
    """Where a page is followed: an empty folder, a running platform, and the addresses pages have for real ones."""

    folder: Path
    data: Path
    agent_port: int
    agent_python: Path
    sdk_port: int
    sdk_python: Path
    addresses: Mapping[str, str]

    def real(self, text: str) -> str:
        for written, real in self.addresses.items():
            text = text.replace(written, real)
        return text

    def written(self, text: str) -> str:
        for written, real in self.addresses.items():
            text = text.replace(real, written)
        return text

    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{Path(sys.executable).parent}:{os.defpath}:{self.folder / '.bin'}",
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / ".config"),
            "COLUMNS": "120",
            "LANG": "C.UTF-8",
            "AGENT_PORT": str(self.agent_port),
            "AGENT_PYTHON": str(self.agent_python),
            "SDK_PYTHON": str(self.sdk_python),
        }


def follow(blocks: Sequence[Block], place: Place) -> list[tuple[Block, str]]:
    """The blocks that ran, each with what it wrote; the first that does not go as the page says is reported."""
    (place.folder / ".aop").symlink_to(place.data)
    (place.folder / ".output").mkdir()
    (place.folder / ".bin").mkdir()
    (place.folder / ".bin" / "curl").symlink_to(Path(__file__).with_name("plain_curl.py"))
    if any(block.word == "ts" for block in blocks):
        _give_node(place)
    for block in blocks:
        if block.is_file and not block.replaces:
            (place.folder / block.title).write_text(place.real(block.text))
    runs = [block for block in blocks if block.word in RUN or block.replaces or block.added]
    script = place.folder / ".page.sh"
    script.write_text(_PREPARE + "".join(_step(number, block, place) for number, block in enumerate(runs)))
    process = subprocess.Popen(
        ["/bin/bash", str(script)],
        cwd=place.folder,
        env=place.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        code = process.wait(PATIENCE_SECONDS)
    finally:
        _end_group(process)
    outputs = [place.written(path.read_text()) for path in _outputs(place, len(runs)) if path.exists()]
    assert code == 0, f"line {runs[len(outputs) - 1].line} ended with {code}:\n{outputs[-1]}"
    return [(block, output) for block, output in zip(runs, outputs, strict=True) if block.word in RUN]


def _give_node(place: Place) -> None:
    """Node, the compiler of the Console in place of one from a registry, and the vectors that the reader downloads."""
    (place.folder / ".bin" / "node").symlink_to(ready_node(print).node)
    (place.folder / "node_modules").symlink_to(CONSOLE / "node_modules")
    (place.folder / "credential.json").symlink_to(assets.folder("contracts") / "vectors" / "credential.json")


def missing_lines(expected: str, output: str) -> list[str]:
    """Lines of the page that the output does not have, in the page's order; blanks count as one."""
    written, missing = iter([_squeezed(line) for line in output.splitlines()]), list[str]()
    for line in filter(None, map(_squeezed, expected.splitlines())):
        pattern = re.compile(".*".join(map(re.escape, line.split("…"))))
        if not any(pattern.fullmatch(candidate) for candidate in written):
            missing.append(line)
            break
    return missing


def _step(number: int, block: Block, place: Place) -> str:
    text = place.real(block.text).replace("./dev aop", "aop")
    start = f'\nexec >"{place.folder}/.output/{number}" 2>&1\n'
    if block.word != "sh":
        written = place.folder / f".block{number}"
        written.write_text(text)
        return f"{start}{_use(block, written)}\n"
    if block.background:
        # The reader waits for the line that the page names.
        output = place.folder / ".output" / str(number)
        seen = f"until grep -q 'is published and' {output}; do sleep 0.2; done\n" if text.startswith("aop dev ") else ""
        return start + ("" if text.strip() == _PLATFORM else _background(text, place) + seen)
    if block.refused is not None:
        return f'{start}if (\nset -e\n{text}\n); then echo "this was not refused"; exit 1; fi\n'
    return f"{start}{text}\n"


def _use(block: Block, written: Path) -> str:
    if block.added is not None:
        return f"add_to {' '.join(block.added)} {written}"
    return f"cp {written} {block.title}" if block.replaces else f"python3 {written}"


def _background(text: str, place: Place) -> str:
    """The same command again means that the reader stopped it with Ctrl-C and starts it once more."""
    # An Agent of the SDK's own has no page for its readiness, but a card.
    ready = f"{place.sdk_port}{PUBLIC_CARD_PATH}" if text.startswith("python ") else f"{place.agent_port}/readyz"
    running = f"running[{zlib.crc32(text.encode())}]"
    again = f'if [ -n "${{{running}-}}" ]; then ended "${{{running}}}"; fi'
    return f"{again}\n(\n{text}\n) &\n{running}=$!\nserving $! {ready}\n"


def _outputs(place: Place, count: int) -> list[Path]:
    return [place.folder / ".output" / str(number) for number in range(count)]


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    """What the page left running, and the shell if it hangs."""
    try:
        os.killpg(process.pid, signal.SIGTERM)
    except ProcessLookupError:
        return
    process.wait(10)


def _squeezed(line: str) -> str:
    return " ".join(line.split())
