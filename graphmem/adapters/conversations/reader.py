"""The way from a file to its conversations: which layout it has decides who reads it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from graphmem.adapters.conversations.beam import beam_conversation
from graphmem.adapters.conversations.intake import Conversation, ConversationFile, FileReading
from graphmem.adapters.conversations.locomo import locomo_conversations
from graphmem.adapters.conversations.source import (
    numbered_lines,
    opened,
    parsed_document,
    parsed_line,
)
from graphmem.errors import SourceFileError
from graphmem.model import Message
from graphmem.rules.gathering import identified

_LAYOUTS = (
    'graphmem reads one {"role": …, "content": …} object per line, a JSON list of such objects, '
    '{"messages": [ … ]}, and the LoCoMo and BEAM layouts.'
)

_PATIENCE = 1000
"""So many lines without a message, and the file is something else."""


def read_conversations(path: Path, *, strict: bool = False) -> ConversationFile:
    """Return the conversations in a file, whose layout is told by its content.

    JSON Lines is read line by line; a line that is no message becomes a problem and the rest is
    kept. Every message returned has an id: its own, or one made from its content, so that
    reading the file again, or after more was appended, gives the same ids.

    Args:
        path: a regular file in UTF-8, with or without a byte order mark.
        strict: refuse the whole file at its first problem.

    Raises:
        SourceFileError: the file cannot be read, its layout is unknown, it holds no message at
            all, or `strict` and anything in it is wrong; names the line.
    """
    intake = FileReading(path, strict=strict)
    with opened(path) as handle:
        if _is_lines(path, handle):
            conversations = [_from_lines(handle, intake)]
        else:
            conversations = _from_document(parsed_document(path, handle), intake)
    if not any(conversation.messages for conversation in conversations):
        first = f" First problem: {intake.problems[0].text}." if intake.problems else ""
        raise SourceFileError(f"{path} holds no message.{first}", hint=_LAYOUTS)
    return ConversationFile(conversations=tuple(conversations), problems=tuple(intake.problems))


def _is_lines(path: Path, handle: BinaryIO) -> bool:
    """Tell JSON Lines from one JSON value by the first line, which itself may be broken."""
    lines = [raw.strip() for _, raw in islice(numbered_lines(handle), 2)]
    if not lines:
        raise SourceFileError(f"{path} is empty.")
    start, end, following = lines[0], lines[0][-1:], lines[-1][:1]
    try:
        value = parsed_line(start)
    except SourceFileError:
        # A value that goes on below breaks off where JSON may; no object follows "{" or ",".
        goes_on = end in b"[:" or (end in b"{," and following != b"{")
        return not start.startswith(b"[") and not (start.startswith(b"{") and goes_on)
    if isinstance(value, Mapping) and ("messages" in value or "conversation" in value):
        return "role" in value
    return not isinstance(value, list)


def _from_lines(handle: BinaryIO, intake: FileReading) -> Conversation:
    messages: list[Message] = []
    for number, raw in numbered_lines(handle):
        if not messages and len(intake.problems) == _PATIENCE:
            break
        with intake.place(number):
            messages.append(intake.message(parsed_line(raw)))
    return Conversation(name=intake.path.stem, messages=tuple(identified(messages)))


def _from_document(document: object, intake: FileReading) -> list[Conversation]:
    if isinstance(document, Mapping):
        if "conversation" in document:
            return locomo_conversations([document], intake)
        document = document.get("messages")
    if isinstance(document, list) and document:
        first = document[0] if isinstance(document[0], Mapping) else {}
        if "conversation" in first:
            return locomo_conversations(document, intake)
        if "turns" in first:
            return [beam_conversation(document, intake)]
        if any(_like_message(item) for item in document):
            return [_from_list(document, intake)]
    if document == []:
        return []
    raise SourceFileError(f"The layout of {intake.path} is unknown.", hint=_LAYOUTS)


def _like_message(item: object) -> bool:
    return isinstance(item, Mapping) and ("role" in item or "content" in item)


def _from_list(items: list[object], intake: FileReading) -> Conversation:
    messages = []
    for number, item in enumerate(items, 1):
        with intake.place(f"message {number}"):
            messages.append(intake.message(item))
    return Conversation(name=intake.path.stem, messages=tuple(identified(messages)))
