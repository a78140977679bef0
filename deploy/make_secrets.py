"""Makes the secrets of a deployment: one file of settings for each unit, one for Agents, the same as Secrets of
Kubernetes, and the logins as SQL.

    /opt/aop/bin/python deploy/make_secrets.py --database db.internal:5432/aop --to secrets

Needs `agent-operating-platform[platform]`. The files are readable by their maker alone; nothing is printed but
their names. A folder that exists already is left as it is.
"""

import argparse
import hashlib
import json
import os
import re
import secrets
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from aop.contracts.signing import SigningKey

_DATABASE = re.compile(r"[-.:\[\]0-9A-Za-z]+/[-_0-9A-Za-z]+", re.ASCII)
LOGINS = {
    "aop_migration": "aop_owner",
    "aop_control_plane_1": "aop_control_plane",
    "aop_router_1": "aop_router",
}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Make the secrets of a deployment.")
    parser.add_argument("--database", required=True, metavar="HOST:PORT/NAME", help="the PostgreSQL database")
    parser.add_argument("--to", required=True, type=Path, metavar="DIR", help="the folder to make")
    chosen = parser.parse_args(arguments)
    if _DATABASE.fullmatch(chosen.database) is None:
        parser.error("--database is HOST:PORT/NAME, with letters, digits, hyphens and dots")
    try:
        chosen.to.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        sys.stderr.write(f"{chosen.to} exists; nothing was changed\n")
        return 1
    passwords = {login: secrets.token_urlsafe(24) for login in LOGINS}
    for name, text in files(chosen.database, passwords).items():
        with os.fdopen(os.open(chosen.to / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        sys.stdout.write(f"{chosen.to / name}\n")
    return 0


def files(database: str, passwords: Mapping[str, str]) -> dict[str, str]:
    to_router, to_control_plane, key = secrets.token_urlsafe(32), secrets.token_urlsafe(32), SigningKey.generate()
    urls = {login: f"postgresql://{login}:{password}@{database}" for login, password in passwords.items()}
    units = {
        "migration": {"PLATFORM_MIGRATION_DATABASE_URL": urls["aop_migration"]},
        "control-plane": {
            "PLATFORM_DATABASE_URL": urls["aop_control_plane_1"],
            "PLATFORM_ROUTER_INTERNAL_BEARER_TOKEN": to_router,
            "PLATFORM_INTERNAL_PRINCIPALS_JSON": _principals("router", to_control_plane),
        },
        "router": {
            "PLATFORM_ROUTER_DATABASE_URL": urls["aop_router_1"],
            "PLATFORM_CONTROL_PLANE_SERVICE_TOKEN": to_control_plane,
            "PLATFORM_ROUTER_SERVICE_PRINCIPALS_JSON": _principals("control-plane", to_router),
            "PLATFORM_ROUTER_AGENT_CREDENTIAL_PRIVATE_KEY_BASE64URL": key.text,
        },
    }
    return {
        **{f"{name}.env": _settings(values) for name, values in units.items()},
        "agents.env": _settings({"PLATFORM_AGENT_ROUTER_PUBLIC_KEY_BASE64URL": key.public_text}),
        "kubernetes.json": _kubernetes(units),
        "logins.sql": _sql(database.rpartition("/")[2], passwords),
    }


def _settings(values: Mapping[str, str]) -> str:
    """With single quotes where a shell needs them; systemd and Compose read those in the same way."""
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in values.items())


def _kubernetes(units: Mapping[str, Mapping[str, str]]) -> str:
    """Secrets of their own, because kubectl takes the quotes of a file of settings as part of the value."""
    items = [
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": f"aop-{name}"}, "stringData": values}
        for name, values in units.items()
    ]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=2) + "\n"


def _principals(name: str, token: str) -> str:
    digest = hashlib.sha256(token.encode()).hexdigest()
    return json.dumps([{"id": name, "tokenSha256": digest}], separators=(",", ":"))


def _sql(database: str, passwords: Mapping[str, str]) -> str:
    groups = [f"CREATE ROLE {group} NOLOGIN;" for group in LOGINS.values()]
    logins = [
        f"CREATE ROLE {login} LOGIN PASSWORD '{password}' IN ROLE {LOGINS[login]};"
        for login, password in passwords.items()
    ]
    return "\n".join([*groups, *logins, f'CREATE DATABASE "{database}" OWNER aop_migration;']) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
