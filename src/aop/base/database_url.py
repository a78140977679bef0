"""A PostgreSQL URL that may name several hosts, and one URL for each of them."""

from collections.abc import Sequence
from urllib.parse import parse_qsl, urlencode, urlsplit

_TARGET = "target_session_attrs"
_WRITABLE = frozenset({"read-write", "primary"})


def single_host_urls(text: str) -> Sequence[str]:
    """In the order of the hosts, and without `target_session_attrs`: the store looks for the writable one itself.

    The reason of a ValueError repeats nothing of the URL, which holds a password.
    """
    try:
        urls, targets = _split(text)
    except ValueError:
        urls, targets = (), ()
    if not urls:
        raise ValueError("must be a PostgreSQL URL that names a database")
    if not _WRITABLE.issuperset(targets):
        raise ValueError(f"can name {_TARGET} only as read-write, because units write")
    return urls


def _split(text: str) -> tuple[Sequence[str], Sequence[str]]:
    parts = urlsplit(text)
    query = parse_qsl(parts.query, keep_blank_values=True)
    kept = urlencode([(name, value) for name, value in query if name != _TARGET])
    login, at, hosts = parts.netloc.rpartition("@")
    names = hosts.split(",")
    is_whole = parts.scheme in {"postgresql", "postgres"} and parts.path.strip("/") and (all(names) or names == [""])
    end = f"{parts.path}?{kept}" if kept else parts.path
    urls = [f"{parts.scheme}://{login}{at}{name}{end}" for name in names] if is_whole else []
    _ = [urlsplit(url).port for url in urls]  # of one that is no number it raises
    return urls, [value for name, value in query if name == _TARGET]
