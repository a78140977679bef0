"""The operations of the OpenAPI documents, to be compared with the routes the units serve."""

import yaml

from aop.base import assets

_METHODS = frozenset({"get", "put", "post", "delete", "patch"})


def openapi_operations(name: str) -> set[tuple[str, str]]:
    """Method and path, such as `("GET", "/v1/agents/{agentId}")`, of a document such as `gateway.v1`."""
    document = yaml.safe_load((assets.folder("contracts") / "openapi" / f"{name}.yaml").read_bytes())
    return {(method.upper(), path) for path, item in document["paths"].items() for method in item if method in _METHODS}
