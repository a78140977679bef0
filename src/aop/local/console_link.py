"""Links into the Console."""


def sign_in_link(console: str, code: str) -> str:
    """A fragment never leaves the browser. The Console takes the code out of the address before its first request."""
    return f"{console}/#code={code}"


def trace_link(console: str, workspace_id: str, trace_id: str) -> str:
    """The page of one Trace; the Console asks who is there."""
    return f"{console}/workspaces/{workspace_id}/traces/{trace_id}"
