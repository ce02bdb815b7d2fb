"""Resources: memories, beliefs with their reasons, and context for a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import mcp_types as types

from graphmem.errors import NotFoundError
from graphmem.mcp import converting
from graphmem.mcp.calls import Question
from graphmem.mcp.converting import compact
from graphmem.model import Name, Record

if TYPE_CHECKING:
    from graphmem.client import AsyncSession

SCHEME = "graphmem://"
JSON, PLAIN = "application/json", "text/plain"
LONGEST = 10_000
"""Maximum length of a URI, in characters; a longer one is cut and names nothing."""

TEMPLATES = (
    types.ResourceTemplate(
        name="memory",
        title="A memory",
        uri_template=f"{SCHEME}memory/{{id}}",
        description="A memory and its history.",
        mime_type=JSON,
    ),
    types.ResourceTemplate(
        name="belief",
        title="A belief",
        uri_template=f"{SCHEME}belief/{{id}}",
        description="A belief and its evidence.",
        mime_type=JSON,
    ),
    types.ResourceTemplate(
        name="context",
        title="Context for a prompt",
        uri_template=f"{SCHEME}context/{{query}}",
        description="What is remembered about a question, as a block for a prompt.",
        mime_type=PLAIN,
    ),
)


class _Known(Record):
    id: Name


class _Asked(Record):
    query: Question


async def read(session: AsyncSession, uri: str) -> types.TextResourceContents:
    """Return the resource at a URI.

    Raises:
        NotFoundError: nothing visible has this URI.
        InvalidInputError: the id or the query is invalid.
    """
    kind, _, rest = uri[:LONGEST].removeprefix(SCHEME).partition("/")
    if not uri.startswith(SCHEME) or not rest:
        raise NotFoundError("Unknown resource.", hint=_HINT)
    named = unquote(rest)
    if kind == "context":
        text = await context(session, named)
        return types.TextResourceContents(uri=uri, mime_type=PLAIN, text=text)
    if kind in ("memory", "belief"):
        data = await _reasons(session, kind, named)
        return types.TextResourceContents(uri=uri, mime_type=JSON, text=compact(data))
    raise NotFoundError("Unknown resource.", hint=_HINT)


_HINT = f"Use {', '.join(template.uri_template for template in TEMPLATES)}."


async def context(session: AsyncSession, query: str) -> str:
    """Return what is remembered about a question, fenced as data."""
    from graphmem.client.state import valid

    found = await session.context(valid(_Asked, query=query).query)
    return found.text or f"Nothing: {found.reason}."


async def _reasons(session: AsyncSession, kind: str, item_id: str) -> Any:
    from graphmem.client.state import valid

    found = await session.why(valid(_Known, id=item_id).id, limit=20)
    shown = converting.reasons(found)
    if shown.kind != kind:
        raise NotFoundError(f"No {kind} {item_id!r}.")
    return shown.model_dump(mode="json", exclude_defaults=True)
