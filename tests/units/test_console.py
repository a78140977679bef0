"""`aop console` as a process: what it serves, with which headers, and what it refuses to start with."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from aop.base.settings import SettingsRefused
from aop.console.settings import SignInProvider, read_console_settings
from aop.console.site import configured, security_headers
from aop.local.ports import any_free_port
from tests.support.every import every
from tests.support.waiting import PATIENCE_SECONDS

GATEWAY = "http://gateway.example:8080"
PUBLIC = "https://agents.example"
DOOR = "https://door.example"


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class RunningConsole:
    origin: str

    def ask(self, path: str, method: str = "GET", **headers: str) -> Reply:
        request = urllib.request.Request(self.origin + path, headers=headers, method=method)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
                return Reply(
                    answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.read()
                )
        except urllib.error.HTTPError as refused:
            with refused:
                named = {name.lower(): value for name, value in refused.headers.items()}
                return Reply(refused.code, named, refused.read())

    @property
    def page(self) -> str:
        return self.ask("/").body.decode()

    @property
    def scripts(self) -> list[str]:
        return re.findall(r'(?:src|href)="(/assets/[^"]+\.js)"', self.page)


_PLACES = (
    *("VITE_PLATFORM_API_BASE_URL", "VITE_PLATFORM_PUBLIC_AGENT_ORIGIN", "VITE_PLATFORM_DOOR_ORIGIN"),
    *("VITE_PLATFORM_OIDC_ISSUER", "VITE_PLATFORM_OIDC_CLIENT_ID", "VITE_PLATFORM_OIDC_SCOPE"),
)


def settings(**changes: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if "PLATFORM_" not in name}  # noqa: TID251
    ours = {"VITE_PLATFORM_API_BASE_URL": GATEWAY, "VITE_PLATFORM_PUBLIC_AGENT_ORIGIN": PUBLIC}
    ours["VITE_PLATFORM_DOOR_ORIGIN"] = DOOR
    return inherited | ours | changes


@pytest.fixture(scope="module")
def console() -> Iterator[RunningConsole]:
    port = any_free_port()
    environment = settings(PLATFORM_CONSOLE_LISTEN_ADDRESS=f"127.0.0.1:{port}", PLATFORM_DRAIN_SECONDS="0")
    command = [sys.executable, "-P", "-m", "aop", "console"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as process:
        try:
            running = RunningConsole(f"http://127.0.0.1:{port}")
            _wait_ready(running, process)
            yield running
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE_SECONDS) == 0
        finally:
            process.kill()


def _wait_ready(console: RunningConsole, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if console.ask("/readyz").status == 200:
                return
        except OSError:
            time.sleep(0.02)
    raise AssertionError("aop console is not ready")


@pytest.mark.parametrize(
    "path",
    ["/", "/discover", "/a/agt_" + "0" * 32, "/agents/a:b?version=1.0.0", "/no/such/page", "/workspaces/w/traces/x"],
)
def test_every_address_of_the_console_answers_the_page(console: RunningConsole, path: str) -> None:
    reply = console.ask(path)
    assert reply.status == 200
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert reply.headers["cache-control"] == "no-cache"
    assert reply.body == console.page.encode()


def test_the_page_carries_this_deployments_configuration_and_nothing_inline(console: RunningConsole) -> None:
    page = console.page
    assert f'<meta name="platform-api-base-url" content="{GATEWAY}" />' in page
    assert f'<meta name="platform-public-agent-origin" content="{PUBLIC}" />' in page
    assert f'<meta name="platform-door-origin" content="{DOOR}" />' in page
    assert "%VITE_" not in page
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)


def test_every_answer_has_the_strict_security_headers(console: RunningConsole) -> None:
    paths = ["/", console.scripts[0], "/icon.svg", "/assets/none.js"]
    for reply in (*(console.ask(path) for path in paths), console.ask("/", "POST")):
        policy = dict(part.split(" ", 1) for part in reply.headers["content-security-policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == "'self'"
        assert policy["connect-src"] == GATEWAY
        assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
        assert "unsafe" not in reply.headers["content-security-policy"]
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["x-content-type-options"] == "nosniff"


def test_built_files_are_kept_for_ever_and_sent_compressed_to_those_who_take_it(console: RunningConsole) -> None:
    path = console.scripts[0]
    plain, packed = console.ask(path), console.ask(path, **{"Accept-Encoding": "gzip"})
    assert plain.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert plain.headers["content-type"] == "text/javascript; charset=utf-8"
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["vary"] == "Accept-Encoding"
    assert gzip.decompress(packed.body) == plain.body
    assert console.ask(path, **{"Accept-Encoding": "gzip;q=0, br;q=0.0"}).headers.get("content-encoding") is None
    smaller = console.ask(path, **{"Accept-Encoding": "gzip, deflate, br;q=0.5"})
    assert smaller.headers["content-encoding"] == "br"
    assert len(smaller.body) < len(packed.body)
    assert console.ask(f"{path}.br").status == 404


def test_an_unchanged_file_is_not_sent_again(console: RunningConsole) -> None:
    first = console.ask("/")
    again = console.ask("/", **{"If-None-Match": first.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    for other in ('"another"', first.headers["etag"][:-2] + '"', "*", ""):
        changed = console.ask("/", **{"If-None-Match": other})
        assert (changed.status, changed.body) == (200, first.body), other


def test_a_built_file_that_is_not_there_is_not_the_page(console: RunningConsole) -> None:
    for path in ("/assets/gone-00000000.js", "/assets/../../pyproject.toml", "/assets/%2e%2e/index.html"):
        assert console.ask(path).status == 404


def test_only_reading_is_offered(console: RunningConsole) -> None:
    head = console.ask("/", "HEAD")
    assert (head.status, head.body) == (200, b"")
    assert int(head.headers["content-length"]) == len(console.page.encode())
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        reply = console.ask("/", method)
        assert (reply.status, reply.headers["allow"], reply.body) == (405, "GET, HEAD", b"")


def test_health_names_nothing(console: RunningConsole) -> None:
    for path in ("/livez", "/readyz"):
        assert json.loads(console.ask(path).body) == {"status": "ok"}


@pytest.mark.rows("CON-01")
@every("name", ["VITE_PLATFORM_API_BASE_URL", "VITE_PLATFORM_PUBLIC_AGENT_ORIGIN", "VITE_PLATFORM_DOOR_ORIGIN"])
@every("text", ["", " ", "not an origin", "http://h:80", "http://h/", "http://h/path", "HTTP://h", "http://u@h"])
def test_a_setting_that_is_no_exact_origin_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(SettingsRefused) as refused:
        read_console_settings({name: text})
    assert [problem.name for problem in refused.value.problems] == [name]


@pytest.mark.rows("CON-01")
def test_the_console_does_not_start_with_such_a_setting() -> None:
    environment = settings(VITE_PLATFORM_PUBLIC_AGENT_ORIGIN="https://agents.example/")
    command = [sys.executable, "-P", "-m", "aop", "console"]
    ended = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert ended.returncode == 78
    assert "VITE_PLATFORM_PUBLIC_AGENT_ORIGIN" in ended.stderr
    assert "agents.example" not in ended.stderr


def test_without_settings_it_is_the_console_of_the_local_platform() -> None:
    found = read_console_settings({})
    assert (found.listen_address.origin, found.api_base_url) == ("http://127.0.0.1:8082", "http://127.0.0.1:8080")
    assert found.public_agent_origin == "http://127.0.0.1:8082"
    assert found.door_origin is None
    assert found.provider is None


def test_a_sign_in_provider_is_in_the_page_and_its_origin_alone_in_the_policy() -> None:
    issuer = {"VITE_PLATFORM_OIDC_ISSUER": "https://id.example/realms/one", "VITE_PLATFORM_OIDC_CLIENT_ID": 'a"b'}
    found = read_console_settings({**issuer, "VITE_PLATFORM_API_BASE_URL": GATEWAY})
    assert found.provider == SignInProvider("https://id.example/realms/one", 'a"b', "openid")
    policy = dict(security_headers(found))[b"content-security-policy"].decode()
    assert f"connect-src {GATEWAY} https://id.example;" in policy
    page = configured("".join(f"%{name}%\n" for name in _PLACES), found)
    assert page.splitlines()[-3:] == ["https://id.example/realms/one", "a&quot;b", "openid"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("VITE_PLATFORM_OIDC_ISSUER", "id.example"),
        ("VITE_PLATFORM_OIDC_ISSUER", "https://u@id.example"),
        ("VITE_PLATFORM_OIDC_ISSUER", "https://id.example?tenant=1"),
        ("VITE_PLATFORM_OIDC_CLIENT_ID", "a b"),
        ("VITE_PLATFORM_OIDC_SCOPE", "profile"),
        ("VITE_PLATFORM_OIDC_SCOPE", "openid  profile"),
    ],
)
def test_a_setting_of_the_provider_that_cannot_be_used_is_refused_by_name(name: str, text: str) -> None:
    provider = {"VITE_PLATFORM_OIDC_ISSUER": "https://id.example", "VITE_PLATFORM_OIDC_CLIENT_ID": "console"}
    with pytest.raises(SettingsRefused) as refused:
        read_console_settings({**provider, name: text})
    assert [problem.name for problem in refused.value.problems] == [name]
    for missing in provider:
        with pytest.raises(SettingsRefused, match=missing):
            read_console_settings({name: text for name, text in provider.items() if name != missing})
