"""The operations of the OpenAPI documents, to be compared with the routes the units serve."""

from tools.contract_bundle import surface

_METHODS = frozenset({"get", "put", "post", "delete", "patch"})


def openapi_operations(name: str) -> set[tuple[str, str]]:
    """Method and path, such as `("GET", "/v1/agents/{agentId}")`, of a document such as `gateway.v1`."""
    paths = surface(name)["paths"]
    return {(method.upper(), path) for path, item in paths.items() for method in item if method in _METHODS}
