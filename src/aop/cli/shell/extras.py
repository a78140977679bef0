"""Which extra of the distribution a command needs, and the message when it is missing; needs no package itself."""

from aop.base.distribution import install_line

_OF_COMMANDS = {
    "up": "local",
    "front": "front",
    "door": "door",
    "mcp": "door",
    "control-plane": "platform",
    "router": "platform",
    "console": "platform",
    "migrate": "platform",
    "ledger": "platform",
}
_OF_CLI = frozenset({"click", "rich", "jsonschema_rs", "nacl", "watchfiles"})
"""The packages that every command of the extra `cli` may use."""


def is_missing_package(missing: ModuleNotFoundError) -> bool:
    """Whether somebody installed less than a command needs; a missing module of our own is a mistake of ours."""
    return str(missing.name).partition(".")[0] not in {"aop", "None"}


def missing_extra(command: str, missing: ModuleNotFoundError) -> str:
    """One sentence with the line to type; `command` is the words after `aop`, if there are any."""
    package = str(missing.name).partition(".")[0]
    extra = _OF_COMMANDS.get(command.partition(" ")[0]) or ("cli" if package in _OF_CLI else "platform")
    called = f"aop {command}".rstrip()
    return f"{called} needs the package {package}, which comes with the extra {extra}: {install_line(extra)}"
