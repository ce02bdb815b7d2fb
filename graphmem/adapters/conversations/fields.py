"""One JSON object of a conversation file, checked field by field into a message."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from pydantic import ValidationError

from graphmem.errors import SourceFileError
from graphmem.model import Message

_EXAMPLE = "2026-03-01T09:00:00+00:00"
_KINDS = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
_FAR_YEAR = re.compile(r"[+-]?\d{5,}-|-|0000-")
_REASONS = {
    "too_short": "{field} is empty",
    "too_long": "{field} is longer than {max_length} characters",
    "value_error": "{field} {error}",
}
"""Pydantic's own words speak of items and validation, which a reader of a file never met."""


def message_of(raw: object) -> Message:
    """Return the message that a parsed JSON value describes.

    Keys it does not know are left out; an optional field that is empty counts as absent.

    Raises:
        SourceFileError: the reason alone, without the place: the caller knows where it is.
    """
    if not isinstance(raw, Mapping):
        raise SourceFileError(f"expected an object with role and content, found {_kind(raw)}")
    if raw.get("role") is None:
        raise SourceFileError("role is missing")
    try:
        return Message(
            role=_text("role", raw["role"]),
            content=_content(raw),
            name=_label("name", raw.get("name")),
            at=_instant(raw.get("at")),
            id=_label("id", raw.get("id")),
            session=_label("session", raw.get("session")),
        )
    except ValidationError as error:
        raise SourceFileError(_reason(error)) from error


def _reason(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    form = _REASONS.get(first["type"], "{field}: " + first["msg"])
    return form.format(field=first["loc"][0], **first.get("ctx", {}))


def _content(raw: Mapping[str, object]) -> str:
    value = raw.get("content")
    if value is None:
        raise SourceFileError("content is null" if "content" in raw else "content is missing")
    if isinstance(value, list):
        return _joined(value)
    return _text("content", value)


def _joined(parts: list[object]) -> str:
    """Content parts as chat APIs write them; parts without text (images, files) are left out."""
    texts = []
    for part in parts:
        if not isinstance(part, Mapping):
            raise SourceFileError("content is a list of something other than content parts")
        if "text" in part:
            texts.append(_text("content", part["text"]))
    if not texts:
        raise SourceFileError("content has no text part")
    return "\n".join(texts)


def _text(field: str, value: object) -> str:
    if not isinstance(value, str):
        raise SourceFileError(f"{field} is {_kind(value)}, expected text")
    return value


def _label(field: str, value: object) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return _text(field, value)


def _instant(value: object) -> datetime | None:
    if value is None or value == "":
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise SourceFileError(f"at is a number, whose unit is unknown; write it like {_EXAMPLE}")
    text = _text("at", value).strip()
    if text.replace(".", "", 1).isdigit():
        raise SourceFileError(f"at is a bare number; write it like {_EXAMPLE}")
    if _FAR_YEAR.match(text):
        raise SourceFileError("at lies before the year 1 or after the year 9999")
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        shown = text if len(text) <= len(_EXAMPLE) else text[: len(_EXAMPLE)] + "…"
        raise SourceFileError(f"at {shown!r} is no instant; write it like {_EXAMPLE}") from error
    if instant.utcoffset() is None:
        raise SourceFileError(f"at has no offset from UTC; add one, like {_EXAMPLE}")
    return instant


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a number")
