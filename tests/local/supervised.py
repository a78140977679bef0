"""Units for the supervisor: small programs, ready at once, never, or over HTTP."""

import os
import sys
from pathlib import Path

from aop.local.ports import any_free_port
from aop.local.terminal import LineTerminal
from aop.local.unit import SupervisedUnit, answers_ready
from aop.local.unit_logs import UnitLogs
from aop.processes.child import Launch

HTTP_UNIT = """
import http.server, sys
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/readyz" else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_): pass
print("a first line", flush=True)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
"""


def logs(folder: Path) -> UnitLogs:
    with (folder / "terminal").open("a") as out:
        return UnitLogs(LineTerminal(out, coloured=False), lambda name: folder / f"{name}.log")


def python(folder: Path, code: str, *arguments: str) -> Launch:
    command = (sys.executable, "-I", "-S", "-c", code, *arguments)
    return Launch(command, {"MARK": str(folder), "PATH": os.defpath})


def http_unit(folder: Path, name: str = "web") -> SupervisedUnit:
    port = any_free_port()
    return SupervisedUnit(name, python(folder, HTTP_UNIT, str(port)), answers_ready(f"http://127.0.0.1:{port}"))


async def always(_: int) -> bool:
    return True


async def never(_: int) -> bool:
    return False
