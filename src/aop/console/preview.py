"""What a share link shows where it is pasted: name and description of the newest Release, from the public share."""

import asyncio
import re
from dataclasses import dataclass
from html import escape
from typing import Final

from aop.client.errors import ClientError
from aop.client.operations import AsyncOperations
from aop.contracts.text import cleaned

PATH: Final = re.compile(r"/a/(agt_[0-9a-f]{32})")
_SECONDS: Final = 1.0
"""A page without a preview now is better than one with it later."""
_MAX_ANSWER_BYTES: Final = 1024 * 1024
_MAX_AT_ONCE: Final = 8
_MAX_DESCRIPTION: Final = 200


@dataclass(frozen=True, slots=True)
class Preview:
    """Texts that a provider wrote: cleaned and on one line, not yet escaped."""

    name: str
    description: str
    address: str

    def tags(self) -> str:
        """Elements of the page's head; every value is escaped."""
        title = escape(f"{self.name} · Agent Operating Platform")
        name, description, address = escape(self.name), escape(self.description), escape(self.address)
        properties = {"og:type": "website", "og:title": name, "og:description": description, "og:url": address}
        return "\n    ".join(
            [
                f'<meta name="description" content="{description}" />',
                *(f'<meta property="{property_}" content="{text}" />' for property_, text in properties.items()),
                '<meta name="twitter:card" content="summary" />',
                f"<title>{title}</title>",
            ]
        )


class Previews:
    """Asks the Gateway as anybody may. Whatever goes wrong there, and when too many ask: no preview."""

    def __init__(self, gateway: str, public_agent_origin: str) -> None:
        self._client = AsyncOperations(gateway, timeout=_SECONDS, max_answer_bytes=_MAX_ANSWER_BYTES)
        self._origin = public_agent_origin
        self._running = 0

    async def of(self, public_agent_id: str) -> Preview | None:
        if self._running >= _MAX_AT_ONCE:
            return None
        self._running += 1
        try:
            async with asyncio.timeout(_SECONDS):
                share = await self._client.read_public_agent(public_agent_id, limit=1)
        except (ClientError, TimeoutError):
            return None
        finally:
            self._running -= 1
        if share.public_agent_id != public_agent_id or not share.releases:
            return None
        newest = share.releases[0]
        address = f"{self._origin}/a/{public_agent_id}"
        return Preview(_line(newest.name), _shortened(_line(newest.description)), address)

    async def close(self) -> None:
        await self._client.close()


def _line(text: str) -> str:
    return cleaned(" ".join(text.split()), lines=False)


def _shortened(text: str) -> str:
    if len(text) <= _MAX_DESCRIPTION:
        return text
    kept = text[:_MAX_DESCRIPTION].rpartition(" ")[0] or text[:_MAX_DESCRIPTION]
    return f"{kept} …"
