"""Finds the contract examples and readers on disk and in the package, so that no document can be forgotten."""

import importlib
import json
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import aop.contracts
from aop.base import assets
from aop.contracts.documents import schemas

CONTRACTS = assets.folder("contracts")

# Contract 0.2, and the shared definitions.
DOCUMENTS = frozenset(
    {
        *("agent-card/0.2", "agent-id-extension/1"),
        *("catalog-entry/1", "discovery-item/1", "agent-overview/2", "owned-agent/1", "agent-compatibility/1"),
        *("workspace/1", "workspace-item/1", "workspace-caller/1"),
        *("installation/2", "installation-item/2", "install-request/2", "installation-update/1"),
        *("principal/1", "access-token/1", "sign-in-code/1"),
        *("endpoint-binding/1", "challenge/1", "endpoint-evidence/1", "release/2", "public-agent-share/1"),
        *("invocation-request/2", "nested-invocation-request/2", "invocation-result/1", "invocation-stream-event/2"),
        *("invocation-event/0.3", "invocation-record/2", "invocation-detail/2", "trace/2", "trace-item/1"),
        *("resolve-agent/1", "resolve-installed-version/2", "router-dispatch/3"),
        *(
            "authorization/1",
            "ledger-leaf/1",
            "ledger-head/1",
            "ledger-consistency/1",
            "ledger-proof/1",
            "ledger-proof-page/1",
            "ledger-bundle/1",
            "ledger-bundle-page/1",
            "ledger-export/1",
        ),
        *("invocation-cloud-event/1", "event-page/1", "figures/1", "release-reach/1", "release-observation/1"),
        *("topology-event/1", "topology-status/1", "router-status/1", "a2a-profile/0.2"),
        *("router-agent-credential/1", "agent-delegation/2", "agent-rejection/1"),
        *("platform-error/2", "platform-error/3", "platform-error/4", "health/1", "front-settings/2"),
    }
)
DEFINITIONS = "definitions/1"


@dataclass(frozen=True)
class Valid:
    document: str
    path: Path

    @property
    def body(self) -> bytes:
        return self.path.read_bytes()


@dataclass(frozen=True)
class Invalid:
    """A value that breaks one stated rule; `semantic` ones break a rule that no schema can say."""

    document: str
    path: Path
    semantic: bool
    rule: str
    pointer: str
    body: bytes


def documents_on_disk() -> frozenset[str]:
    return frozenset(f"{path.parent.parent.name}/{path.parent.name}" for path in CONTRACTS.glob("*/*/schema.json"))


def valid_examples() -> Iterator[Valid]:
    for name in sorted(documents_on_disk()):
        root = CONTRACTS / name / "examples" / "valid"
        for path in sorted(root.rglob("*.json")):
            yield Valid(_document(name, root, path), path)


def invalid_examples() -> Iterator[Invalid]:
    for name in sorted(documents_on_disk()):
        root = CONTRACTS / name / "examples" / "invalid"
        for path in sorted(root.rglob("*.json")):
            semantic = path.relative_to(root).parts[0] == "semantic"
            stated = json.loads(path.read_bytes())
            text = stated["text"] if "text" in stated else json.dumps(stated["instance"])
            document = _document(name, root / "semantic" if semantic else root, path)
            yield Invalid(document, path, semantic, stated["rule"], stated["pointer"], text.encode())


def readers() -> Mapping[str, type]:
    """The readers of every module of aop.contracts, and of A2A; no document has two."""
    merged: dict[str, type] = {}
    names = [f"aop.contracts.{module.name}" for module in pkgutil.iter_modules(aop.contracts.__path__)]
    for name in (*names, "aop.a2a.v0_3"):
        found: Mapping[str, type] = getattr(importlib.import_module(name), "READERS", {})
        repeated = merged.keys() & found.keys()
        if repeated:
            raise AssertionError(f"two readers for {sorted(repeated)}")
        merged.update(found)
    return merged


def _document(name: str, root: Path, path: Path) -> str:
    folders = path.relative_to(root).parts[:-1]
    return "#".join((name, *folders))


def definitions_of(contract: str) -> Mapping[str, Any]:
    """The `$defs` of the schema of that name and version."""
    return cast("Mapping[str, Any]", schemas()[f"urn:aop:contract:{contract}"]["$defs"])
