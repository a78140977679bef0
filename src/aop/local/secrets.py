"""What a local platform makes once and keeps: service tokens, the Router's signing key, database passwords."""

import secrets

import msgspec

from aop.contracts.signing import SigningKey
from aop.local.state import DataFolder

_FILE = "secrets.json"


class LocalSecrets(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, kw_only=True):
    control_plane_to_router: str
    router_to_control_plane: str
    router_credential_key: str
    control_plane_password: str
    router_password: str
    migration_password: str

    def __repr__(self) -> str:
        return "LocalSecrets(…)"


def keep_secrets(folder: DataFolder) -> LocalSecrets:
    """The secrets of the folder; they are created at its first start."""
    stored = folder.load(_FILE, LocalSecrets, "restore it or use another data folder")
    if stored is not None:
        return stored
    made = _new_secrets()
    folder.write(_FILE, msgspec.json.format(msgspec.json.encode(made)) + b"\n")
    return made


def _new_secrets() -> LocalSecrets:
    key = SigningKey.generate()
    return LocalSecrets(
        control_plane_to_router=secrets.token_urlsafe(32),
        router_to_control_plane=secrets.token_urlsafe(32),
        router_credential_key=key.text,
        control_plane_password=secrets.token_urlsafe(24),
        router_password=secrets.token_urlsafe(24),
        migration_password=secrets.token_urlsafe(24),
    )
