"""A real OpenID provider on loopback: Canaille, in an environment of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from interop.environments import ISSUER
from tools.environments import child_environment, ready

CLIENT_ID, AUDIENCE, PREFIX = "aop-console", "aop-gateway", "id:"
USER, PASSWORD = "ada", "a password of a test"
TOKEN_SECONDS = 120
_PROGRAM = ISSUER.lock.with_name("serve.py")


def origin(port: int) -> str:
    return f"http://127.0.0.1:{port}"


def settings(port: int) -> dict[str, str]:
    """What the Control Plane and the Console must know of it."""
    return {
        "PLATFORM_OIDC_ISSUER": origin(port),
        "PLATFORM_OIDC_AUDIENCE": AUDIENCE,
        "PLATFORM_OIDC_JWKS_URL": f"{origin(port)}/oauth/jwks.json",
        "PLATFORM_OIDC_PRINCIPAL_PREFIX": PREFIX,
        "VITE_PLATFORM_OIDC_ISSUER": origin(port),
        "VITE_PLATFORM_OIDC_CLIENT_ID": CLIENT_ID,
    }


@contextmanager
def running_issuer(port: int, console: str) -> Iterator[str]:
    """Its origin; one person can sign in, and the Console is its client."""
    ready([ISSUER], _say)
    arguments = [str(port), console, CLIENT_ID, AUDIENCE, USER, PASSWORD, str(TOKEN_SECONDS)]
    with subprocess.Popen(
        [ISSUER.python, _PROGRAM, *arguments],
        env=child_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n", "the OpenID provider did not start"
            yield origin(port)
        finally:
            process.kill()


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
