"""Read messages of chat libraries: role and text of each, in their order.

Messages of OpenAI, Anthropic, LangChain and pydantic-ai are recognised by their fields, as objects
or as mappings. None of these libraries is imported.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

from pydantic import BaseModel

from graphmem.model import Message
from graphmem.rules import hygiene

KNOWN_ROLES = frozenset(
    {"user", "human", "assistant", "ai", "model", "system", "developer", "tool", "function"}
)
"""Roles whose meaning needs no note in a receipt."""
FOREIGN_FIELDS = frozenset(
    {
        *("type", "tool_calls", "tool_call_id", "function_call", "refusal", "audio", "status"),
        *("annotations", "reasoning", "reasoning_content", "reasoning_details", "phase", "parsed"),
        *("thinking", "thinking_blocks", "provider_specific_fields", "prefix", "weight", "usage"),
        *("cache_control", "additional_kwargs", "response_metadata", "usage_metadata", "example"),
        *("invalid_tool_calls", "artifact", "stop_reason", "stop_sequence", "stop_details"),
        *("model", "container", "is_error", "metadata", "context_management", "call_id"),
    }
)
"""Fields of a mapping that chat libraries add to a message."""
READ_FIELDS = FOREIGN_FIELDS - {"metadata", "additional_kwargs"} | {"parts", "kind", "data"}
"""Fields of a mapping that a reader reads, or that hold nothing which a person wrote."""

_LANGCHAIN_ROLES = {
    "human": "user",
    "HumanMessageChunk": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "SystemMessageChunk": "system",
    "ToolMessageChunk": "tool",
    "FunctionMessageChunk": "function",
    **{name: name for name in ("system", "tool", "function", "developer", "remove")},
}
_PART_ROLES = {
    **dict.fromkeys(("system_prompt", "instruction"), "system"),
    **dict.fromkeys(("user_prompt",), "user"),
}
_TEXTS = frozenset({"text", "input_text", "output_text", "text_content", "user_prompt"}) | {
    *("system_prompt", "refusal", "speech")
}
_DROPPED = frozenset(
    {
        *("thinking", "redacted_thinking", "reasoning", "cache_point", "compaction"),
        *("instruction_baseline", "instruction_delta", "model_settings_delta"),
        *("tool_availability_delta", "capability_load_delta", "item_reference"),
    }
)
"""Parts without words of a speaker."""
_CALLS = ("tool_use", "tool_call", "function_call", "_call")
_RESULTS = (
    *("tool_result", "tool_return", "call_output", "function_call_output"),
    *("retry_prompt", "retry_feedback"),
)
_ATTACHMENTS = {
    "binary": "file",
    "uploaded": "file",
    **{name: name for name in ("image", "audio", "video", "document", "file")},
}
_MAX_VALUE_CHARS, _MAX_CALL_CHARS, _MAX_REFERENCE_CHARS = 80, 500, 500
_MAX_DEPTH = 8
_SURROGATE = re.compile("[\ud800-\udfff]")

_TYPE_NAMES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    tuple: "a list",
    str: "text",
    bool: "true or false",
    type(None): "null",
    int: "a number",
    float: "a number",
}


class MessageError(ValueError):
    """A value that is not a message; its text is the reason, without the location."""


class RoleText(NamedTuple):
    """Text of one role in a message."""

    role: str
    text: str
    at: datetime | None = None
    """Time of a part that has its own; only pydantic-ai records it."""


class ReadMessage(NamedTuple):
    """A message as it was given, and what was read of it."""

    original: object
    role: str
    """Its own role, before the caller's map of roles; empty without one."""
    texts: list[RoleText]
    """Its words by role, in their order; empty if it has none."""
    is_block: bool
    """Whether it is a block that `context` made, and nothing else."""


class MessageReader:
    """Reads messages, and counts what it left out or assumed."""

    def __init__(self, roles: Mapping[str, str] | None = None) -> None:
        self._roles = {role.casefold(): role_as for role, role_as in (roles or {}).items()}
        self._dropped: Counter[str] = Counter()
        self._unknown: dict[str, None] = {}
        self.skipped = 0
        """Number of messages without words."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what was left out or assumed, one phrase each."""
        dropped = (f"dropped: {n} {kind}" for kind, n in sorted(self._dropped.items()))
        unknown = (f"not a person: role {role!r}" for role in self._unknown)
        return (*dropped, *unknown)

    def read(self, message: object) -> ReadMessage:
        """Return the words of a message by role."""
        role: str | None
        if isinstance(message, Message):
            role, texts = message.role, [RoleText(message.role, message.content)]
        else:
            unwrapped = _unwrapped(message)
            role = _role_of(unwrapped)
            texts = [*_joined(self._words(unwrapped, role))]
        kept = [one._replace(role=self._role(one.role)) for one in texts if not _is_block(one)]
        self.skipped += not kept
        return ReadMessage(message, role or "", kept, is_block=bool(texts) and not kept)

    def _role(self, role: str) -> str:
        known = self._roles.get(role.casefold(), role)
        if known.lower() not in KNOWN_ROLES and len(self._unknown) < len(KNOWN_ROLES):
            self._unknown[known[:80]] = None
        return known

    def _words(self, message: object, role: str | None) -> Iterator[RoleText]:
        if role is None:
            yield from self._parts([message], "assistant", 0)
        elif role != "remove":
            yield from self._content(message, role)

    def _content(self, message: object, role: str) -> Iterator[RoleText]:
        """Yield the words of a message with a role: its content, and its calls of tools."""
        content = _field(message, "content", "parts")
        if _is_plain(message) and isinstance(content, str):
            yield RoleText(role, content)  # Stored verbatim, even if it is blank.
            return
        parts = _listed(content, message)
        at = _time(_field(message, "timestamp")) if _field(message, "parts") else None
        yield from (one._replace(at=one.at or at) for one in self._parts(parts, role, 0))
        audio = _field(message, "audio")
        for text in (_field(message, "refusal"), _field(audio, "transcript")):
            if isinstance(text, str):
                yield RoleText(role, text)
        # LangChain repeats the calls among its parts in a field.
        if not any(_kind(part).endswith(_CALLS) for part in parts):
            for call in _calls(message):
                yield RoleText(role, _call_text(call))

    def _parts(self, parts: Sequence[object], role: str, depth: int) -> Iterator[RoleText]:
        for part in parts:
            yield from self._part(part, role, depth)

    def _part(self, part: object, role: str, depth: int) -> Iterator[RoleText]:
        kind = _kind(part)
        role, at = _PART_ROLES.get(kind, role), _time(_field(part, "timestamp"))
        if kind in _DROPPED:
            self._dropped[kind] += 1
        elif kind.endswith(_RESULTS):
            yield RoleText("tool", self._nested(part, ("content", "output", "result"), depth), at)
        elif kind.endswith(_CALLS):
            yield RoleText("assistant" if role == "user" else role, _call_text(part), at)
        elif (label := _attachment(kind)) is not None:
            yield RoleText(role, _placeholder(label, part), at)
        else:
            yield from self._text(part, kind, role, at, depth)

    def _text(
        self, part: object, kind: str, role: str, at: datetime | None, depth: int
    ) -> Iterator[RoleText]:
        if kind == "speech" and _field(part, "speaker") in ("user", "assistant"):
            role = str(_field(part, "speaker"))
        fields = ("text", "refusal", "transcript", "content")
        content = part if isinstance(part, str) else _field(part, *fields)
        if isinstance(content, str):
            yield RoleText(role, content, at)
        elif kind in _TEXTS and isinstance(content, list | tuple) and depth < _MAX_DEPTH:
            yield from (
                one._replace(at=one.at or at) for one in self._parts(content, role, depth + 1)
            )
        elif kind and kind not in _TEXTS:
            yield RoleText(role, _placeholder(kind, part), at)
        else:
            raise MessageError(_not_text(part, content))

    def _nested(self, part: object, names: Sequence[str], depth: int) -> str:
        """Return the result of a tool as text."""
        content = _field(part, *names)
        if content is None or isinstance(content, str):
            return content or ""
        if isinstance(content, list | tuple) and depth < _MAX_DEPTH and all(map(_kind, content)):
            return "\n".join(one.text for one in self._parts(content, "tool", depth + 1))
        return _json(content)


def is_broken(fields: Mapping[str, Any]) -> bool:
    """Return whether a text has half of a surrogate pair, which a record repairs."""
    return any(isinstance(text, str) and _SURROGATE.search(text) for text in fields.values())


def with_words(fields: Mapping[str, Any], texts: Sequence[RoleText]) -> Iterator[dict[str, Any]]:
    """Yield the fields of a record for each text of a message, whose ids are numbered."""
    for n, one in enumerate(texts):
        at, own_id = fields.get("at"), fields.get("id")
        own = {"role": one.role, "content": one.text, "at": one.at if at is None else at}
        yield {**fields, **own, "id": f"{own_id}#{n + 1}" if n and own_id is not None else own_id}


def reply_messages(reply: Any) -> list[Any]:
    """Return the messages of a model's reply: a text, a message, messages, or a provider's object.

    Anything else is returned as it is, for `MessageReader` to refuse.
    """
    if isinstance(reply, str):
        return [{"role": "assistant", "content": reply}]
    if isinstance(reply, Mapping) and reply.keys() == {"content"}:
        return [{"role": "assistant", **reply}]
    new_messages = getattr(reply, "new_messages", None)
    if callable(new_messages):
        return list(new_messages())  # An agent run of pydantic-ai.
    choices, output = _field(reply, "choices"), _field(reply, "output")
    if isinstance(choices, list | tuple) and choices:
        return [_field(choices[0], "message")]
    if isinstance(output, list | tuple):
        return list(output)
    if isinstance(reply, list | tuple):
        return list(reply)
    found = _field(reply, "messages")
    return list(found) if isinstance(found, list | tuple) else [reply]


def _joined(words: Iterator[RoleText]) -> Iterator[RoleText]:
    """Yield the words of neighbouring parts of one role as one text; a blank one if it is alone."""
    for role, group in groupby(words, lambda one: one.role):
        parts = list(group)
        texts = [one.text for one in parts if one.text]
        at = next((one.at for one in parts if one.at), None)
        if texts or len(parts) == 1:
            yield RoleText(role, "\n".join(texts), at)


def _is_block(part: RoleText) -> bool:
    """Return whether a message of the system is a block that `context` made."""
    return part.role != "user" and part.text.lstrip().startswith(f"{hygiene.FENCE}>")


def _field(source: object, *names: str) -> Any:
    """Return the first of these fields that is present and not None."""
    if isinstance(source, Mapping):
        found = (source.get(name) for name in names)
    elif source is None or isinstance(source, str | bytes | list | tuple):
        return None
    else:
        found = (getattr(source, name, None) for name in names)
    return next((value for value in found if value is not None), None)


def _unwrapped(message: object) -> object:
    """Return the fields of a message that LangChain serialised as {"type": …, "data": {…}}."""
    if isinstance(message, Mapping) and message.keys() == {"type", "data"}:
        data = message["data"]
        return {"type": message["type"], **data} if isinstance(data, Mapping) else message
    return message


def _role_of(message: object) -> str | None:
    """Return the role of a message; None for an item of the Responses API that has none."""
    role, kind = _field(message, "role"), _field(message, "kind", "type")
    if role is None and isinstance(kind, str):
        known = _LANGCHAIN_ROLES | {"request": "user", "response": "assistant"}
        role = known.get(kind)
        if role is None and (kind in _DROPPED or kind.endswith((*_CALLS, *_RESULTS, "_output"))):
            return None
    if role is None:
        raise MessageError("role is missing" if isinstance(message, Mapping) else _odd(message))
    role = getattr(role, "value", role)
    if not isinstance(role, str):
        raise MessageError(f"role is {type_name(role)}, expected text")
    return role


def _is_plain(message: object) -> bool:
    return isinstance(message, Mapping) and "role" in message and not _has_extras(message)


def _has_extras(message: Mapping[str, Any]) -> bool:
    return any(message.get(name) for name in ("tool_calls", "function_call", "refusal", "audio"))


def _listed(content: object, message: object) -> Sequence[object]:
    if isinstance(content, str):
        return [content] if content.strip() else []
    if content is None:
        if isinstance(message, Mapping) and "content" not in message and not _has_extras(message):
            raise MessageError("content is missing")
        return []
    if not isinstance(content, list | tuple):
        raise MessageError(f"content is {type_name(content)}, expected text")
    return content


def _kind(part: object) -> str:
    kind = _field(part, "part_kind", "type", "kind")
    return kind.replace("-", "_") if isinstance(kind, str) else ""


def _attachment(kind: str) -> str | None:
    words = kind.removeprefix("input_").split("_")
    return _ATTACHMENTS.get(words[0]) if words else None


def _time(given: object) -> datetime | None:
    """Return the time of a part, which JSON gives as a text; None without a time zone."""
    if isinstance(given, str):
        with suppress(ValueError):
            given = datetime.fromisoformat(given)
    return given if isinstance(given, datetime) and given.utcoffset() is not None else None


def _calls(message: object) -> Sequence[object]:
    calls, call = _field(message, "tool_calls"), _field(message, "function_call")
    return calls if isinstance(calls, list | tuple) else [call] if call is not None else []


def _call_text(call: object) -> str:
    """Return a call of a tool as text, such as `[tool call search(query="Porto")]`."""
    inner = _field(call, "function", "custom") or call
    name = _field(inner, "name", "tool_name") or _kind(call).removesuffix("_call")
    given = _field(inner, "input", "args", "arguments", "action")
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            given = _short(given) if given else {}
    if isinstance(given, Mapping):
        given = ", ".join(f"{key}={_short(_json(value))}" for key, value in given.items())
    elif given is not None and not isinstance(given, str):
        given = _short(_json(given))
    text = f"{name}({given or ''})"
    return f"[tool call {text if len(text) <= _MAX_CALL_CHARS else text[:_MAX_CALL_CHARS] + '…'}]"


def _short(text: str) -> str:
    if "data:" in text[:_MAX_VALUE_CHARS] and ";base64," in text:
        return '"…"'
    return text if len(text) <= _MAX_VALUE_CHARS else f"{text[:_MAX_VALUE_CHARS]}…"


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)
    except (ValueError, TypeError, RecursionError):
        return f"[{type(value).__name__}]"


def _plain(value: object) -> object:
    # Any other `model_dump`, such as that of a mock, may return objects without end.
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return f"[{type(value).__name__}]"


def _placeholder(label: str, part: object) -> str:
    """Return `[image https://…]` for an attachment: its address, id or digest, never its bytes."""
    places = [part, *(_field(part, name) for name in ("image_url", "source", "file", "content"))]
    places += [_field(part, name) for name in ("input_audio", "document", "video_url")]
    url = next(filter(None, (_text(p, "url", "image_url", "file_url") for p in places)), "")
    media = next(filter(None, (_text(p, "media_type", "mime_type", "format") for p in places)), "")
    data = next(filter(None, (_field(p, "data", "base64", "file_data") for p in places)), None)
    for text in (url, data):
        if isinstance(text, str) and text.startswith("data:"):
            head, _, data = text.partition(",")
            media, url = head[len("data:") :].partition(";")[0], ""
    title = next(filter(None, (_text(p, "filename", "title") for p in places)), "")
    file_id = next(filter(None, (_text(p, "file_id") for p in places)), "")
    digest = _digest(data) if isinstance(data, str | bytes) and not url else ""
    words = (title, url or file_id, "" if url else media, digest)
    return f"[{' '.join([label, *(word[:_MAX_REFERENCE_CHARS] for word in words if word)])}]"


def _text(source: object, *names: str) -> str:
    found = _field(source, *names)
    return found if isinstance(found, str) else ""


def _digest(data: str | bytes) -> str:
    """Return a digest of bytes, which may be given in base64."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if isinstance(data, str):
        with suppress(binascii.Error, ValueError):
            raw = base64.b64decode(raw, validate=True)
    return f"sha256:{hashlib.sha256(raw).hexdigest()[:16]}"


def _not_text(part: object, content: object) -> str:
    if isinstance(part, Mapping) and content is not None:
        return f"content is {type_name(content)}, expected text"
    return "content is a list of something other than content parts"


def _odd(message: object) -> str:
    return f"expected an object with role and content, found {type_name(message)}"


def type_name(value: object) -> str:
    """Return the type of a value in words."""
    return _TYPE_NAMES.get(type(value), type(value).__name__)
