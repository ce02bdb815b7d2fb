"""Resources (memories, beliefs with their reasons, context for a question) and prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

import mcp_types as types

from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.mcp.results import WhyResult
from graphmem.mcp.tool import Profile, answer_data, compact_json
from graphmem.mcp.tools import context_text
from graphmem.model import BeliefReasons

if TYPE_CHECKING:
    from graphmem.client import AsyncSession

SCHEME = "graphmem://"
JSON, PLAIN = "application/json", "text/plain"
MAX_URI = 10_000
"""Maximum length of a URI, in characters; a longer one is cut and names nothing."""

TEMPLATES = (
    types.ResourceTemplate(
        name="memory",
        title="A memory",
        uri_template=f"{SCHEME}memory/{{memory_id}}",
        description="A memory and its history.",
        mime_type=JSON,
    ),
    types.ResourceTemplate(
        name="belief",
        title="A belief",
        uri_template=f"{SCHEME}belief/{{belief_id}}",
        description="A belief and its evidence.",
        mime_type=JSON,
    ),
    types.ResourceTemplate(
        name="context",
        title="Context for a prompt",
        uri_template=f"{SCHEME}context/{{about}}",
        description="What is remembered about a question, as a block for a prompt.",
        mime_type=PLAIN,
    ),
)

_HINT = f"Use {', '.join(template.uri_template for template in TEMPLATES)}."

ASK = types.Prompt(
    name="ask",
    title="Ask with memory",
    description="A question, with what is remembered about it.",
    arguments=[types.PromptArgument(name="question", description="The question", required=True)],
)
KEEP = types.Prompt(
    name="keep",
    title="Keep this conversation",
    description="Let the agent store what this conversation brought.",
    arguments=[types.PromptArgument(name="session_id", description="Name; generated if missing")],
)
KEEP_TEXT = """\
Store what is worth knowing next time from our conversation, with session_id {session_id}:
{steps}
Store nothing that memory supplied, no secrets, and nothing I asked you to forget. Then list, one \
line each, what you stored and what it replaced."""

KEEP_MESSAGES = "add_messages: my messages and yours, verbatim, each once."
KEEP_FACTS = (
    "observe: each fact about a person or thing, as subject, predicate and object, with the date "
    "since when it holds. For a fact that changed, observe the new object."
)
KEEP_QUOTED = " Give the turn_id of the message that states it."
KEEP_SENTENCES = (
    "remember: each preference, decision or lesson, as one sentence that is clear on its own. If "
    "it replaces a remembered one, supersede that one instead."
)
KEEP_TESTS = (
    "believe: each suspicion worth testing. add_evidence: what supports or refutes one that is "
    "remembered, with its belief_id. If it is refuted (revise_due), supersede it."
)


async def read(session: AsyncSession, uri: str) -> types.TextResourceContents:
    """Return the resource at a URI.

    Raises:
        NotFoundError: nothing visible has this URI.
        InvalidInputError: the id or the query is invalid.
    """
    kind, _, rest = uri[:MAX_URI].removeprefix(SCHEME).partition("/")
    if not uri.startswith(SCHEME) or not rest:
        raise NotFoundError("Unknown resource.", hint=_HINT)
    named = unquote(rest)
    if kind == "context":
        text = await context(session, named)
        return types.TextResourceContents(uri=uri, mime_type=PLAIN, text=text)
    if kind in ("memory", "belief"):
        text = await _reasons(session, kind, named)
        return types.TextResourceContents(uri=uri, mime_type=JSON, text=text)
    raise NotFoundError("Unknown resource.", hint=_HINT)


async def context(session: AsyncSession, about: str) -> str:
    """Return what is remembered about a question, fenced as data."""
    return context_text(await session.context(about))


async def _reasons(session: AsyncSession, kind: str, item_id: str) -> str:
    found = await session.why(item_id, limit=20)
    if isinstance(found, BeliefReasons) != (kind == "belief"):
        raise NotFoundError(f"No {kind} {item_id!r}.")
    return compact_json(answer_data(WhyResult.model_validate(found)))


def offered_prompts(*, read_only: bool) -> list[types.Prompt]:
    """Return the prompts; for a read-only server, those that store nothing."""
    return [ASK] if read_only else [ASK, KEEP]


def keep(arguments: dict[str, str], profile: Profile) -> types.GetPromptResult:
    """Return the prompt `keep`, with the tools that are offered."""
    given = arguments.get("session_id", "").strip()
    session_id = f'"{given}"' if given else "a short name for this conversation"
    if profile == "full":
        steps = [KEEP_MESSAGES, KEEP_FACTS + KEEP_QUOTED, KEEP_SENTENCES, KEEP_TESTS]
    else:
        steps = [KEEP_FACTS, KEEP_SENTENCES, KEEP_TESTS]
    numbered = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    text = KEEP_TEXT.format(session_id=session_id, steps=numbered)
    return _result(KEEP, types.TextContent(text=text))


async def ask(session: AsyncSession, arguments: dict[str, str]) -> types.GetPromptResult:
    """Return the prompt `ask`.

    Raises:
        InvalidInputError: the question is missing.
    """
    question = arguments.get("question", "").strip()
    if not question:
        raise InvalidInputError("`question` is missing.", hint="Give the question to ask.")
    block = await context(session, question)
    return _result(ASK, types.TextContent(text=block), types.TextContent(text=question))


def _result(prompt: types.Prompt, *contents: types.TextContent) -> types.GetPromptResult:
    return types.GetPromptResult(
        description=prompt.description,
        messages=[types.PromptMessage(role="user", content=content) for content in contents],
    )
