"""What the Agent can do: it takes a text and answers with a text, word by word when the caller streams."""

from collections.abc import AsyncIterator

from aop.agent import AgentContext, InputRefused, SkillFunction


async def chat(text: str, context: AgentContext) -> AsyncIterator[str]:
    """The input is a `str`, as the Skill's inputSchema says. Put the stream of a model here."""
    words = text.split()
    if not words:
        raise InputRefused("Write at least one word.")
    for word in answer(text, words).split():
        yield f"{word} "


def answer(text: str, words: list[str]) -> str:
    kind = "asked" if text.rstrip().endswith("?") else "wrote"
    count = "1 word" if len(words) == 1 else f"{len(words)} words"
    return f"You {kind} {count} with {len(text)} characters. The longest is {max(words, key=len)}"


SKILLS: dict[str, SkillFunction] = {"chat": chat}
