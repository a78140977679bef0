"""The link that signs in to the Console."""


def sign_in_link(console: str, code: str) -> str:
    """A fragment never leaves the browser. The Console takes the code out of the address before its first request."""
    return f"{console}/#code={code}"
