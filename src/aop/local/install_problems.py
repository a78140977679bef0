"""Why an installation failed, in one sentence: read from the output of the installer."""

import re
import shlex
from collections.abc import Sequence
from typing import NamedTuple

from aop.contracts.text import cleaned

_MAX_LINES = 12
_MAX_LINE = 240
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class SetupFailed(Exception):
    """The set-up could not be finished; the text says what to do."""


class _Cause(NamedTuple):
    signs: re.Pattern[str]
    sentence: str


def _cause(signs: str, sentence: str) -> _Cause:
    return _Cause(re.compile(signs, re.IGNORECASE), sentence)


_CAUSES = (
    _cause(
        r"no space left on device|ENOSPC|os error 28|disk quota exceeded|EDQUOT",
        "the disk is full; free some space (a whole set-up takes about 1 GB), then repeat",
    ),
    # Before the network: installers tell of an untrusted certificate as a connection that failed.
    _cause(
        r"certificate verify failed|invalid peer certificate|UNABLE_TO_GET_ISSUER_CERT|SELF_SIGNED_CERT|unknownissuer",
        "the certificate of the package index is not trusted; name your CA with SSL_CERT_FILE and NODE_EXTRA_CA_CERTS",
    ),
    _cause(
        r"failed to establish a new connection|connection broken by|name or service not known|name resolution"
        r"|dns error|error sending request|client error \(connect\)|tcp connect error|network is unreachable"
        r"|connection refused|connection reset|could not connect|timed out|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET"
        r"|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|cannot connect to proxy|proxyerror",
        "no connection to the package index; check the network, and the index and proxy settings of pip, uv and npm",
    ),
    _cause(
        r"has no usable wheels|no wheels with a matching|building source distributions is disabled",
        "a package has no ready build for this Python and this machine, and nothing is compiled here",
    ),
    _cause(
        r"failed building wheel|failed to build|command '[^']*(gcc|cc|clang)[^']*' failed|unable to (find|execute)"
        r"|no acceptable c compiler|microsoft visual c\+\+",
        "a package has no ready build for this Python and must be compiled; a compiler for it is missing or failed",
    ),
    _cause(
        r"no matching distribution found|no solution found|not found in the package registry|E404|ETARGET",
        "the package index does not have a package or version that is asked for",
    ),
    _cause(
        r"hashes? (do|does) not match|hash mismatch|EINTEGRITY",
        "a package is not the one that the lock file names; nothing of it was used",
    ),
    _cause(r"permission denied|EACCES|read-only file system|EROFS", "a folder cannot be written"),
)


def explained(step: str, command: Sequence[str], output: str) -> str:
    """One sentence and the line it is read from; without a known sign, the end of the output and the command."""
    shown = without_colours(output).splitlines()
    lines = [cleaned(line.strip()[:_MAX_LINE], lines=False) for line in shown if line.strip()]
    for cause in _CAUSES:
        sign = next((line for line in lines if cause.signs.search(line)), None)
        if sign is not None:
            return f"{step}: {cause.sentence}\n  it said: {sign}"
    last = "".join(f"\n  {line}" for line in lines[-_MAX_LINES:])
    return f"{step}: this failed; repeat to try again:\n  {shlex.join(command)}{last}"


def without_colours(text: str) -> str:
    """Of an installer, which may colour what it says or move the cursor."""
    return _COLOUR.sub("", text)
