"""The model: a LangChain chat model that needs no network and no key, and answers the same question the same way.

Any other chat model of LangChain fits in its place: it gets one remark and answers with one JSON object.
"""

import json
import re
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

INSTRUCTION = (
    "You get one remark from meeting notes. If somebody is to do something, answer with a JSON object that has the "
    "members task, owner and due, with null for what the remark does not say. Otherwise answer null."
)

_NAME = r"(?!(?:It|This|That|There|The|Then)\b)@?(?P<owner>[A-Z][\w.'-]*(?: [A-Z][\w.'-]*)?|@[\w.'-]+)"
_MARK = r"(?i:action item|action|todo)"
_FORMS = [
    re.compile(rf"^{_MARK}\s*[:\-]\s*{_NAME}\s+(?:to|will|should)\s+(?P<task>.+)$"),
    re.compile(rf"^{_MARK}\s*[:\-]\s*(?P<task>.+)$"),
    re.compile(rf"^{_MARK}\((?P<owner>[\w.'-]+)\)\s*:?\s*(?P<task>.+)$"),
    re.compile(rf"^\[ ?\]\s*{_NAME}\s*:\s*(?P<task>.+)$"),
    re.compile(r"^\[ ?\]\s*(?P<task>.+)$"),
    re.compile(rf"^{_NAME}\s+(?:will|is going to|has to|needs to|must|should|agreed to)\s+(?P<task>.+)$"),
    re.compile(r"^(?P<owner>@[\w.'-]+)\s*[:,]?\s*(?:please\s+)?(?P<task>.+)$"),
]
_DUE = re.compile(
    r"[\s(,]{0,4}(?:(?:due:?|by|until|before|on)\s{1,4})?"
    r"(?P<due>[0-9]{4}-[0-9]{2}-[0-9]{2}|(?:next\s+)?(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
    r"|today|tomorrow|end of (?:the )?week|next week|in \d{1,3} days?)[\s.!)]{0,8}$",
    re.IGNORECASE,
)


class RuleModel(BaseChatModel):
    """Reads a remark with fixed rules."""

    @property
    def _llm_type(self) -> str:
        return "rules"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        answer = json.dumps(read(str(messages[-1].content)))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content=answer))])

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return self._generate(messages)


def read(remark: str) -> dict[str, str | None] | None:
    text = remark.strip().lstrip("-*•").strip()
    for form in _FORMS:
        found = form.match(text)
        if found is not None:
            parts = found.groupdict()
            due = _DUE.search(parts["task"])
            task = (parts["task"][: due.start()] if due else parts["task"]).strip(" .!")
            return {"task": task, "owner": parts.get("owner"), "due": due["due"] if due else None} if task else None
    return None
