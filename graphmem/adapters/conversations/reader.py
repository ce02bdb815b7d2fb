"""Open a conversation file, check its encoding, detect its layout and parse it."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from graphmem.adapters.conversations.beam import beam_conversation
from graphmem.adapters.conversations.intake import Conversation, ConversationFile, FileReading
from graphmem.adapters.conversations.locomo import locomo_conversations
from graphmem.errors import SourceFileError
from graphmem.model import Message
from graphmem.rules.transcripts import assign_ids

MAX_LINE_BYTES = 16 * 2**20
"""Maximum length of a line; a longer one is rejected without being kept in memory."""
MAX_DOCUMENT_BYTES = 256 * 2**20
"""Maximum size of a single JSON value, which takes several times its size in memory. JSON Lines
has no limit."""
_HEAD_BYTES = 4096
_SAVE_AS_UTF8 = "Save the file as UTF-8, for example with `iconv -t UTF-8`."


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file for reading bytes, after checking that it looks like UTF-8 text.

    Raises:
        SourceFileError: no such file, a directory, no permission, empty, binary, UTF-16.
    """
    try:
        if path.is_dir():
            raise SourceFileError(f"{path} is a directory.", hint="Name a file inside it.")
        if path.exists() and not path.is_file():
            raise SourceFileError(f"{path} is not a regular file.", hint="Save it as a file first.")
        with _handle(path) as handle:
            _check_head(path, handle.read(_HEAD_BYTES))
            yield handle
    except FileNotFoundError as error:
        raise SourceFileError(f"The file {path} does not exist.", hint="Check the name.") from error
    except OSError as error:
        raise SourceFileError(f"{path} cannot be read: {error.strerror}.") from error


def _handle(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except ValueError as error:
        raise SourceFileError(f"{str(path)!r} is not a valid file name.") from error


def numbered_lines(handle: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the number, from 1, and the bytes of every line that is not blank.

    A line longer than `MAX_LINE_BYTES` is truncated to a length that `parsed_line` still rejects.
    """
    handle.seek(0)
    number = 0
    while raw := handle.readline(MAX_LINE_BYTES + 1):
        number += 1
        rest = raw
        while rest and not rest.endswith(b"\n"):
            rest = handle.readline(MAX_LINE_BYTES)
        if number == 1:
            raw = raw.removeprefix(codecs.BOM_UTF8)
        if raw.strip():
            yield number, raw


def parsed_line(raw: bytes) -> object:
    """Return the JSON value of one line.

    Raises:
        SourceFileError: too long, not UTF-8, or not JSON; names the column.
    """
    if len(raw) > MAX_LINE_BYTES:
        raise SourceFileError(f"longer than {MAX_LINE_BYTES >> 20} MiB")
    try:
        return _parsed(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        byte = f"byte 0x{raw[error.start]:02x} at position {error.start + 1}"
        raise SourceFileError(f"not UTF-8 ({byte}); save the file as UTF-8") from error
    except json.JSONDecodeError as error:
        raise SourceFileError(f"not valid JSON: {error.msg} at column {error.colno}") from error


def parsed_document(path: Path, handle: BinaryIO) -> object:
    """Return the single JSON value of a file.

    Raises:
        SourceFileError: too long, not UTF-8, or not JSON; names the line.
    """
    handle.seek(0)
    raw = handle.read(MAX_DOCUMENT_BYTES + 1)
    if len(raw) > MAX_DOCUMENT_BYTES:
        raise SourceFileError(
            f"{path} is one JSON value of more than {MAX_DOCUMENT_BYTES >> 20} MiB.",
            hint="Write one message per line (JSON Lines); such a file is read line by line.",
        )
    try:
        return _parsed(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SourceFileError(f"{path}: line {line}: not UTF-8.", hint=_SAVE_AS_UTF8) from error
    except json.JSONDecodeError as error:
        raise SourceFileError(
            f"{path}: line {error.lineno}: not valid JSON: {error.msg} at column {error.colno}."
        ) from error
    except SourceFileError as error:
        raise SourceFileError(f"{path}: {error.message}.") from error


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except RecursionError as error:
        raise SourceFileError("nested too deeply to be a message") from error
    except ValueError as error:
        # Python does not convert integers of thousands of digits.
        raise SourceFileError("contains a number with too many digits") from error


def _check_head(path: Path, head: bytes) -> None:
    if not head:
        raise SourceFileError(f"{path} is empty.")
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or (
        b"\0" in head[:2] and head.replace(b"\0", b"").lstrip().startswith((b"{", b"["))
    ):
        raise SourceFileError(f"{path} is UTF-16 or UTF-32, not UTF-8.", hint=_SAVE_AS_UTF8)
    text = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if b"\0" in head and not text.startswith((b"{", b"[")):
        raise SourceFileError(f"{path} is a binary file, not text.")


_LAYOUTS = (
    'graphmem reads one {"role": …, "content": …} object per line, a JSON list of such objects, '
    '{"messages": [ … ]}, and the LoCoMo and BEAM layouts.'
)

_MAX_PROBLEMS = 1000
"""Number of invalid lines before the first message after which reading stops."""


def read_conversations(path: Path, *, strict: bool = False) -> ConversationFile:
    """Return the conversations of a file; its content decides the layout.

    JSON Lines is read line by line; a line that is not a message becomes a problem, and the other
    lines are kept. Every message has an id: its own, or one derived from its content. Reading the
    file again, or after lines were appended, gives the same ids.

    Args:
        path: a regular file in UTF-8, with or without a byte order mark.
        strict: reject the whole file at its first problem.

    Raises:
        SourceFileError: the file cannot be read, its layout is unknown, it contains no message, or
            it has a problem and `strict` is True; names the line.
    """
    intake = FileReading(path, strict=strict)
    with opened(path) as handle:
        if _is_lines(path, handle):
            conversations = [_from_lines(handle, intake)]
        else:
            conversations = _from_document(parsed_document(path, handle), intake)
    if not any(conversation.messages for conversation in conversations):
        first = f" First problem: {intake.problems[0].text}." if intake.problems else ""
        raise SourceFileError(f"{path} contains no message.{first}", hint=_LAYOUTS)
    return ConversationFile(conversations=tuple(conversations), problems=tuple(intake.problems))


def _is_lines(path: Path, handle: BinaryIO) -> bool:
    """Return whether a file is JSON Lines, not one JSON value; its first line may be invalid."""
    lines = [raw.strip() for _, raw in islice(numbered_lines(handle), 2)]
    if not lines:
        raise SourceFileError(f"{path} is empty.")
    start, end, following = lines[0], lines[0][-1:], lines[-1][:1]
    try:
        value = parsed_line(start)
    except SourceFileError:
        # A value of several lines breaks where JSON allows it; no object follows "{" or ",".
        continues = end in b"[:" or (end in b"{," and following != b"{")
        return not start.startswith(b"[") and not (start.startswith(b"{") and continues)
    if isinstance(value, Mapping) and ("messages" in value or "conversation" in value):
        return "role" in value
    return not isinstance(value, list)


def _from_lines(handle: BinaryIO, intake: FileReading) -> Conversation:
    messages: list[Message] = []
    for number, raw in numbered_lines(handle):
        if not messages and len(intake.problems) == _MAX_PROBLEMS:
            break
        with intake.place(number):
            messages.append(intake.message(parsed_line(raw)))
    return Conversation(name=intake.path.stem, messages=tuple(assign_ids(messages)))


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
        if any(_is_like_message(item) for item in document):
            return [_from_list(document, intake)]
    if document == []:
        return []
    raise SourceFileError(f"The layout of {intake.path} is unknown.", hint=_LAYOUTS)


def _is_like_message(item: object) -> bool:
    return isinstance(item, Mapping) and ("role" in item or "content" in item)


def _from_list(items: list[object], intake: FileReading) -> Conversation:
    messages = []
    for number, item in enumerate(items, 1):
        with intake.place(f"message {number}"):
            messages.append(intake.message(item))
    return Conversation(name=intake.path.stem, messages=tuple(assign_ids(messages)))
