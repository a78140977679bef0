"""Cards that somebody wrote to deceive or to break the page: markup, turned text, endless words, false names."""

from tests.cli.hostile_text import hostile
from tests.console.stack import Json

CAUGHT = "hostile-card-was-here"
"""The id of the element, and the name of the global, that would be there if a Card had run."""
_MARKUP = (
    f'<img src=x id="{CAUGHT}" onerror="window[\'{CAUGHT}\']=1">'
    f"<script>window['{CAUGHT}']=1</script>"
    f'<a href="javascript:window[\'{CAUGHT}\']=1">press</a> [press](javascript:alert(1)) "><svg/onload=alert(1)>'
)
LONG_WORD = "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz" * 5
"""315 letters without a place to break."""


def _skill(**members: object) -> Json:
    return {
        "id": "summarize",
        "name": "Summarize",
        "description": "Shortens a text to its main points.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
        "outputSchema": {"type": "object", "properties": {"summary": {"type": "string"}}},
        "requiredPermissions": ["text.read"],
        **members,
    }


def _everywhere(agent_id: str, name: str, text: str) -> Json:
    """The text in every member that is shown."""
    properties = {
        text[:200]: {"type": "string", "description": text, "default": text},
        "__proto__": {"type": "object", "title": text},
    }
    schema = {"type": "object", "title": text, "properties": properties, "examples": [{"text": text}]}
    return {
        "agentId": agent_id,
        "name": name,
        "description": text,
        "owner": {"id": "mallory", "displayName": text[:120]},
        "skills": [_skill(name=text[:120], description=text, inputSchema=schema)],
        "permissions": [{"id": "text.read", "description": text}],
    }


_TURNED: Json = {
    "agentId": "mallory:turned",
    "owner": {"id": "mallory", "displayName": ""},
    "permissions": [{"id": "text.read", "description": ""}],
    "skills": [_skill()],
}
HOSTILE: tuple[Json, ...] = (
    _everywhere("mallory:markup", "<b>Markup</b><img src=x onerror=alert(1)>", _MARKUP),
    _everywhere("mallory:long-words", LONG_WORD[:120], LONG_WORD),
    hostile(_TURNED),
    {
        "agentId": "aop:summarlzer",
        "name": "Summ\u0430rizer",
        "description": "Shortens texts, like the one that you trust.",
        "skills": [_skill()],
    },
    {
        "agentId": f"mallory:{'a' * 120}",
        "name": "A" * 120,
        "description": "Has the longest id that is allowed.\n" + "And many lines.\n" * 60,
        "skills": [_skill(id="s" * 128, name="S" * 120)],
    },
)
