"""The Console's files as they are served: read once, each with its headers and its compressed forms."""

import gzip
import hashlib
import mimetypes
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from aop.base import assets
from aop.console.settings import (
    API_BASE_URL,
    DOOR_ORIGIN,
    OIDC_CLIENT_ID,
    OIDC_ISSUER,
    OIDC_SCOPE,
    PUBLIC_AGENT_ORIGIN,
    ConsoleSettings,
)

Headers = tuple[tuple[bytes, bytes], ...]

INDEX = "index.html"
_HASHED = "/assets/"
"""Names below it hold a digest of the content, so what is there never changes."""
_COMPRESSED_TYPES = ("text/", "application/json", "image/svg+xml")
_LEAST_COMPRESSED = 1024
_BROTLI = ".br"
"""The build puts a file compressed with Brotli beside each one that is worth it; Python itself cannot make them."""
_PREVIEW = re.compile(r'<meta name="description"[^>]*>\s*<title>[^<]*</title>')
"""What every page of the Console says of itself, and a share link replaces."""
_PAGE = "text/html; charset=utf-8"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}


class ConsoleNotBuilt(Exception):
    """There are no built files to serve."""


@dataclass(frozen=True, slots=True)
class File:
    content: bytes
    compressed: Mapping[bytes, bytes]
    """By content coding, the best one first."""
    headers: Headers
    etag: bytes


@dataclass(frozen=True, slots=True)
class Site:
    files: Mapping[str, File]
    """By path; the page itself, which also answers every address of the Console, is under `/`."""
    secure: Headers

    def find(self, path: str) -> File | None:
        """The file of a path; for a path that is no file but an address of the Console, the page."""
        found = self.files.get(path)
        if found is None and not path.startswith(_HASHED):
            return self.files["/"]
        return found

    def previewed(self, tags: str) -> File:
        """The page with these elements in its head, in place of what all pages say."""
        page = _PREVIEW.sub(lambda _: tags, self.files["/"].content.decode(), count=1)
        return _file(page.encode(), _PAGE, self.secure, forever=False, brotli=None)


def built_folder() -> Path | None:
    """Where the built files are: in the package, or in the source checkout after a build."""
    packaged = assets.folder("console")
    for folder in (packaged / "dist", packaged):
        if (folder / INDEX).is_file() and not (folder / "package.json").is_file():
            return folder
    return None


def read_site(folder: Path, settings: ConsoleSettings) -> Site:
    secure = security_headers(settings)
    files: dict[str, File] = {}
    for path in sorted(folder.rglob("*")):
        name = "/" + path.relative_to(folder).as_posix()
        if path.is_file() and path.suffix != _BROTLI and name != f"/{INDEX}":
            smaller = path.with_name(path.name + _BROTLI)
            brotli = smaller.read_bytes() if smaller.is_file() else None
            forever = name.startswith(_HASHED)
            files[name] = _file(path.read_bytes(), _kind(path), secure, forever=forever, brotli=brotli)
    page = configured((folder / INDEX).read_text("utf-8"), settings)
    if _PREVIEW.search(page) is None:
        raise ConsoleNotBuilt(f"{INDEX} has no place for a preview: build the Console again")
    files["/"] = _file(page.encode(), _PAGE, secure, forever=False, brotli=None)
    return Site(files, secure)


def configured(page: str, settings: ConsoleSettings) -> str:
    """The page with the settings in their places, each escaped."""
    provider = settings.provider
    places = {
        API_BASE_URL: settings.api_base_url,
        PUBLIC_AGENT_ORIGIN: settings.public_agent_origin,
        DOOR_ORIGIN: settings.door_origin or "",
        OIDC_ISSUER: provider.issuer if provider else "",
        OIDC_CLIENT_ID: provider.client_id if provider else "",
        OIDC_SCOPE: provider.scope if provider else "",
    }
    for name, value in places.items():
        place = f"%{name}%"
        if place not in page:
            raise ConsoleNotBuilt(f"{INDEX} has no place for {name}: build the Console again")
        page = page.replace(place, escape(value))
    return page


def security_headers(settings: ConsoleSettings) -> Headers:
    """Own files only, requests to the Gateway and the sign-in provider only, no frame, no referrer, nothing inline."""
    reachable = [settings.api_base_url, *([settings.provider.origin] if settings.provider else [])]
    policy = "; ".join(
        [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self'",
            f"connect-src {' '.join(reachable)}",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )
    return (
        (b"content-security-policy", policy.encode()),
        (b"referrer-policy", b"no-referrer"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), payment=(), usb=()"),
    )


def _kind(path: Path) -> str:
    kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


def _file(content: bytes, kind: str, secure: Headers, *, forever: bool, brotli: bytes | None) -> File:
    worth = len(content) >= _LEAST_COMPRESSED and kind.startswith(_COMPRESSED_TYPES)
    caching = b"public, max-age=31536000, immutable" if forever else b"no-cache"
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'.encode()
    headers = (
        (b"content-type", kind.encode()),
        (b"cache-control", caching),
        (b"etag", etag),
        (b"vary", b"Accept-Encoding"),
        *secure,
    )
    compressed: dict[bytes, bytes] = {}
    if brotli is not None:
        compressed[b"br"] = brotli
    if worth:
        compressed[b"gzip"] = gzip.compress(content, 9, mtime=0)  # the same bytes on every machine
    return File(content, compressed, headers, etag)
