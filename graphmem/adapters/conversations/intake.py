"""Parse the messages of a conversation file, and collect its problems with their locations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from graphmem.errors import SourceFileError
from graphmem.model import Message, Record
from graphmem.rules import transcripts


class FileProblem(Record):
    """One part of a conversation file that could not be read."""

    line: int | None
    """Line number from 1 in a JSON Lines file; None in a JSON document: see `reason`."""
    reason: str

    @property
    def text(self) -> str:
        """Location and reason in one phrase."""
        return self.reason if self.line is None else f"line {self.line}: {self.reason}"


class Conversation(Record):
    """Messages of one conversation in the order of the file; each has an id."""

    name: str
    messages: tuple[Message, ...]


class ConversationFile(Record):
    """Conversations of one file, and the problems found while reading it."""

    conversations: tuple[Conversation, ...]
    problems: tuple[FileProblem, ...]


class FileReading:
    """State of reading one file: its problems and message ids so far."""

    def __init__(self, path: Path, *, strict: bool) -> None:
        self.path = path
        self.strict = strict
        self.problems: list[FileProblem] = []
        self._fingerprints: dict[tuple[str | None, str], str] = {}

    @contextmanager
    def place(self, place: int | str) -> Iterator[None]:
        """Pass a `SourceFileError` of the block to `refuse`, with its location."""
        try:
            yield
        except SourceFileError as error:
            self.refuse(place, error.message)

    def refuse(self, place: int | str, reason: str) -> None:
        """Record a problem at a line (a number) or another location (a text).

        Raises:
            SourceFileError: the file is read with `strict`.
        """
        problem = (
            FileProblem(line=place, reason=reason)
            if isinstance(place, int)
            else FileProblem(line=None, reason=f"{place}: {reason}")
        )
        if self.strict:
            raise SourceFileError(
                f"{self.path}: {problem.text}.",
                hint="Nothing was read. Correct the file, or read it without strict to skip this.",
            )
        self.problems.append(problem)

    def message(self, raw: object) -> Message:
        """Return the message of a parsed JSON value, with its own id if it has one.

        Raises:
            SourceFileError: the value is not a message, or another message has its id.
        """
        message = message_of(raw)
        if message.id is None:
            return message
        fingerprint = transcripts.fingerprint(message)
        key = message.session, message.id
        if self._fingerprints.setdefault(key, fingerprint) != fingerprint:
            raise SourceFileError(f"another message already has the id {message.id[:80]!r}")
        return message


_EXAMPLE = "2026-03-01T09:00:00+00:00"
_KINDS = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
_FAR_YEAR = re.compile(r"[+-]?\d{5,}-|-|0000-")
_REASONS = {
    "too_short": "{field} is empty",
    "too_long": "{field} is longer than {max_length} characters",
    "value_error": "{field} {error}",
}
"""Messages that replace pydantic's, whose terms mean nothing to the author of a file."""


def message_of(raw: object) -> Message:
    """Return the message of a parsed JSON value.

    Unknown keys are ignored; an empty optional field counts as absent.

    Raises:
        SourceFileError: the value is not a message; contains the reason without the location.
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
            at=_time(raw.get("at")),
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
    """Join the text parts of a chat API's content; other parts (images, files) are ignored."""
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


def _time(value: object) -> datetime | None:
    if value is None or value == "":
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise SourceFileError(f"at is a number of unknown unit; write it like {_EXAMPLE}")
    text = _text("at", value).strip()
    if text.replace(".", "", 1).isdigit():
        raise SourceFileError(f"at is a bare number; write it like {_EXAMPLE}")
    if _FAR_YEAR.match(text):
        raise SourceFileError("at is before the year 1 or after the year 9999")
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        shown = text if len(text) <= len(_EXAMPLE) else text[: len(_EXAMPLE)] + "…"
        raise SourceFileError(f"at {shown!r} is not a time; write it like {_EXAMPLE}") from error
    if time.utcoffset() is None:
        raise SourceFileError(f"at has no UTC offset; add one, like {_EXAMPLE}")
    return time


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a number")
