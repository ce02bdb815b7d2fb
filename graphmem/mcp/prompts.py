"""Prompts that a person picks: ask with memory at hand, and keep what a conversation brought."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mcp_types as types

from graphmem.errors import InvalidInputError
from graphmem.mcp.resources import context

if TYPE_CHECKING:
    from graphmem.client import AsyncSession

ASK = types.Prompt(
    name="ask",
    title="Ask with memory",
    description="A question, with what is remembered about it.",
    arguments=[types.PromptArgument(name="question", description="What to ask", required=True)],
)
KEEP = types.Prompt(
    name="keep",
    title="Keep this conversation",
    description="Have the agent keep what this conversation brought.",
    arguments=[types.PromptArgument(name="session", description="Its name; made up when missing")],
)
KEEPING = """\
Go through our conversation and keep what is worth knowing next time, with session {session}:
1. add_messages: what I and you said, word for word, each message once.
2. observe: each fact about somebody or something, as subject, predicate and object, with the turn \
that says it. A fact that changed is observed with its new object.
3. remember: each preference, decision or lesson, as one sentence that stands on its own.
Keep nothing that memory itself told you, no secrets, and nothing I asked you to forget. Then tell \
me in one line each what you kept and what it replaced."""


def offered(*, read_only: bool) -> list[types.Prompt]:
    """Return the prompts; of a server that may only read, those that keep nothing."""
    return [ASK] if read_only else [ASK, KEEP]


async def keep(arguments: dict[str, str]) -> types.GetPromptResult:
    """Return the prompt `keep`."""
    session = arguments.get("session", "").strip()
    named = f'"{session}"' if session else "a short name for this conversation"
    return _said(KEEP, types.TextContent(text=KEEPING.format(session=named)))


async def ask(session: AsyncSession, arguments: dict[str, str]) -> types.GetPromptResult:
    """Return the prompt `ask`.

    Raises:
        InvalidInputError: nothing is asked.
    """
    question = arguments.get("question", "").strip()
    if not question:
        raise InvalidInputError("question: it is missing.", hint="Give what to ask.")
    block = await context(session, question)
    return _said(ASK, types.TextContent(text=block), types.TextContent(text=question))


def _said(prompt: types.Prompt, *contents: types.TextContent) -> types.GetPromptResult:
    return types.GetPromptResult(
        description=prompt.description,
        messages=[types.PromptMessage(role="user", content=one) for one in contents],
    )
