"""The answer to `tools/list`, page by page, in an order that does not change while the tools do not."""

import base64
import binascii
from typing import Any, Final

import msgspec

from aop.door.installed import FRESH_SECONDS
from aop.door.mcp.catalog import Catalog
from aop.door.mcp.messages import Era, Fault, Params, ProtocolFault, encode, of_era
from aop.door.mcp.tools import tool_document

_PAGE_TOOLS: Final = 1000
_PAGE_BYTES: Final = 4 * 1024 * 1024
_HINTS: Final = {"ttlMs": int(FRESH_SECONDS * 1000), "cacheScope": "private"}


def listed(catalog: Catalog, params: Params, era: Era) -> bytes:
    after = "" if params.cursor is msgspec.UNSET else _name(params.cursor)
    names = [name for name in catalog.tools if name > after]
    page: list[bytes] = []
    size = 0
    for name in names[:_PAGE_TOOLS]:
        text = tool_document(name, catalog.tools[name])
        size += len(text)
        if page and size > _PAGE_BYTES:
            break
        page.append(text)
    rest: dict[str, Any] = {} if era is Era.HANDSHAKE else dict(_HINTS)
    if len(page) < len(names):
        rest["nextCursor"] = _cursor(names[len(page) - 1])
    return b'{"tools":[%b]%b' % (b",".join(page), _members_after(of_era(era, rest)))


def _members_after(document: bytes) -> bytes:
    """The members of an object as they follow others, and its end."""
    return b"}" if document == encode({}) else b"," + document[1:]


def _cursor(name: str) -> str:
    return base64.urlsafe_b64encode(name.encode()).decode()


def _name(cursor: str) -> str:
    try:
        return base64.b64decode(cursor, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise ProtocolFault(Fault.PARAMS, "The cursor is none of this list") from None
