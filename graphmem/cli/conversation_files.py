"""Read conversation files: JSON Lines, a JSON list of messages, or `{"messages": [...]}`."""

from __future__ import annotations

import codecs
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import ValidationError

from graphmem.conversation import messages
from graphmem.conversation.ingestion import assign_ids, fingerprint
from graphmem.errors import SourceFileError
from graphmem.model import Message, Record, roles
from graphmem.rules import claims, times

MAX_LINE_BYTES = 16 * 2**20
"""Maximum length of a line; a longer one is rejected without being kept in memory."""
MAX_DOCUMENT_BYTES = 256 * 2**20
"""Maximum size of a single JSON value, which takes several times its size in memory. JSON Lines
has no limit."""
_HEAD_BYTES = 4096
_SAVE_AS_UTF8 = "Save the file as UTF-8, for example with `iconv -t UTF-8`."
_LAYOUTS = (
    'graphmem reads one {"role": …, "content": …} object per line, a JSON list of such objects, or '
    '{"messages": [ … ]}.'
)

_MAX_PROBLEMS = 1000
"""Number of invalid lines before the first message after which reading stops."""
_MAX_NAMES, _MAX_NAME_CHARS = 20, 80
"""Maximum number of unread keys that the notes name, and of characters of one."""
_SENDERS = ("userid", "senderid", "authorid", "fromid", "speakerid", "participantid", "memberid")
"""Names of the id of a sender, as `times.key` returns them."""
_REASONS = {
    "too_short": "{field} is empty",
    "too_long": "{field} is longer than {max_length} characters",
    "value_error": "{field} {error}",
}
"""Messages that replace pydantic's, whose terms mean nothing to the author of a file."""


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
    notes: tuple[str, ...] = ()
    """Parts of messages that were left out, and assumptions about them."""
    unread: Mapping[str, int] = {}
    """Keys of messages that were not read, and how often they had a value."""


class FileReader:
    """Problems and message ids found so far in one file."""

    def __init__(self, path: Path, *, strict: bool, time_zone: str | None = None) -> None:
        self.path = path
        self.strict = strict
        self.time_zone = time_zone
        self.unread: Counter[str] = Counter()
        self.problems: list[FileProblem] = []
        self.words = messages.MessageReader()
        self.repaired = 0
        """Number of messages with half of a surrogate pair."""
        self.notes: list[str] = []
        self._fingerprints: dict[tuple[str | None, str], str] = {}
        self._people: dict[str, dict[str, str | None]] = {}
        """Name given to each sender's id, by the folded name in the file."""

    @contextmanager
    def location(self, place: int | str) -> Iterator[None]:
        """Pass a `SourceFileError` of the block to `reject`, with its location."""
        repaired = self.repaired
        try:
            yield
        except SourceFileError as error:
            self.reject(place, error.message)
        if self.repaired > repaired:
            at = f"line {place}" if isinstance(place, int) else place
            self.notes.append(f"{at}: half of a surrogate pair became U+FFFD")

    def reject(self, place: int | str, reason: str) -> None:
        """Record a problem at a line (a number) or another location (a text)."""
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

    def read(self, raw: object) -> list[Message]:
        """Return the messages of a parsed JSON value, with their own ids if they have some."""
        found = parse_messages(raw, self)
        for message in found:
            if not message.id:
                continue
            key, known = (message.session, message.id), fingerprint(message)
            if self._fingerprints.setdefault(key, known) != known:
                raise SourceFileError(f"another message already has the id {message.id[:80]!r}")
        return found

    def count_unread(self, record: Mapping[str, object], read: AbstractSet[str]) -> None:
        """Count the keys of a record that have a value and were not read."""
        self.unread.update(
            name[:_MAX_NAME_CHARS]
            for name, value in record.items()
            if name not in read and value not in (None, "", [], {})
        )

    def name_of(self, name: str | None, sender: str | None) -> str | None:
        """Return the name of a person; of several senders with one name, the first keeps it."""
        known = self._people.setdefault(claims.name_key(name or ""), {})
        if sender is None or sender in known:
            return known.get(sender or "", name)
        known[sender] = name if not known else f"{name} ({sender})" if name else sender
        if len(known) > 1:
            self.notes.append(f"another sender of the name {name or 'user'!r}: {known[sender]!r}")
        return known[sender]

    def remaining(self) -> list[str]:
        """Return which keys were not read, and how often, one phrase each."""
        found = [f"not read: {n} {name}" for name, n in sorted(self.unread.items())]
        more = len(found) - _MAX_NAMES
        return [*found[:_MAX_NAMES], *([f"not read: {more} more keys"] if more > 0 else [])]


def read_conversations(
    path: Path, *, strict: bool = False, time_zone: str | None = None
) -> ConversationFile:
    """Return the conversations of a file; its content decides the layout.

    JSON Lines is read line by line; a line that is not a message becomes a problem, and the other
    lines are kept. Every message has an id: its own, or one derived from its content. Reading the
    file again, or after lines were appended, gives the same ids.

    Args:
        strict: reject the whole file at its first problem.
        time_zone: zone of times without one; None: the machine's.
    """
    reader = FileReader(path, strict=strict, time_zone=time_zone)
    with open_text_file(path) as handle:
        if _is_lines(path, handle):
            conversations = [_from_lines(handle, reader)]
        else:
            conversations = _from_document(parse_document(path, handle), reader)
    if not any(conversation.messages for conversation in conversations):
        first = f" First problem: {reader.problems[0].text}." if reader.problems else ""
        raise SourceFileError(f"{path} contains no message.{first}", hint=_LAYOUTS)
    return ConversationFile(
        conversations=tuple(conversations),
        problems=tuple(reader.problems),
        notes=(*reader.notes, *reader.words.notes, *reader.remaining()),
        unread=dict(sorted(reader.unread.items())),
    )


def _is_lines(path: Path, handle: BinaryIO) -> bool:
    """Return whether a file is JSON Lines, not one JSON value; its first line may be invalid."""
    lines = [raw.strip() for _, raw in islice(numbered_lines(handle), 2)]
    if not lines:
        raise SourceFileError(f"{path} is empty.")
    start, end, following = lines[0], lines[0][-1:], lines[-1][:1]
    try:
        value = parse_line(start)
    except SourceFileError:
        # A value of several lines breaks where JSON allows it; no object follows "{" or ",".
        continues = end in b"[:" or (end in b"{," and following != b"{")
        return not start.startswith(b"[") and not (start.startswith(b"{") and continues)
    if isinstance(value, Mapping) and "messages" in value:
        return "role" in value
    return not isinstance(value, list)


def _from_lines(handle: BinaryIO, reader: FileReader) -> Conversation:
    found: list[Message] = []
    for number, raw in numbered_lines(handle):
        if not found and len(reader.problems) == _MAX_PROBLEMS:
            break
        with reader.location(number):
            found += reader.read(parse_line(raw))
    return Conversation(name=reader.path.stem, messages=tuple(assign_ids(found)))


def _from_document(document: object, reader: FileReader) -> list[Conversation]:
    items = document.get("messages") if isinstance(document, Mapping) else document
    if isinstance(document, Mapping):
        reader.count_unread(document, {"messages"})
    if items == []:
        return []
    if isinstance(items, list) and any(_looks_like_message(item) for item in items):
        return [_from_list(items, reader)]
    raise SourceFileError(f"The layout of {reader.path} is unknown.", hint=_LAYOUTS)


def _looks_like_message(item: object) -> bool:
    known = ("role", "content", "parts")
    return isinstance(item, Mapping) and any(name in item for name in known)


def _from_list(items: list[object], reader: FileReader) -> Conversation:
    found: list[Message] = []
    for number, item in enumerate(items, 1):
        with reader.location(f"message {number}"):
            found += reader.read(item)
    return Conversation(name=reader.path.stem, messages=tuple(assign_ids(found)))


@contextmanager
def open_text_file(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file for reading bytes, after checking that it looks like UTF-8 text."""
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

    A line longer than `MAX_LINE_BYTES` is truncated to a length that `parse_line` still rejects.
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


def parse_line(raw: bytes) -> object:
    """Return the JSON value of one line."""
    if len(raw) > MAX_LINE_BYTES:
        raise SourceFileError(f"longer than {MAX_LINE_BYTES >> 20} MiB")
    try:
        return _decode_json(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        byte = f"byte 0x{raw[error.start]:02x} at position {error.start + 1}"
        raise SourceFileError(f"not UTF-8 ({byte}); save the file as UTF-8") from error
    except json.JSONDecodeError as error:
        raise SourceFileError(f"not valid JSON: {error.msg} at column {error.colno}") from error


def parse_document(path: Path, handle: BinaryIO) -> object:
    """Return the single JSON value of a file."""
    handle.seek(0)
    raw = handle.read(MAX_DOCUMENT_BYTES + 1)
    if len(raw) > MAX_DOCUMENT_BYTES:
        raise SourceFileError(
            f"{path} is one JSON value of more than {MAX_DOCUMENT_BYTES >> 20} MiB.",
            hint="Write one message per line (JSON Lines); such a file is read line by line.",
        )
    try:
        return _decode_json(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SourceFileError(f"{path}: line {line}: not UTF-8.", hint=_SAVE_AS_UTF8) from error
    except json.JSONDecodeError as error:
        raise SourceFileError(
            f"{path}: line {error.lineno}: not valid JSON: {error.msg} at column {error.colno}."
        ) from error
    except SourceFileError as error:
        raise SourceFileError(f"{path}: {error.message}.") from error


def _decode_json(text: str) -> object:
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


def parse_messages(raw: object, reader: FileReader) -> list[Message]:
    """Return the messages of a parsed JSON value: one, or one for each role whose words it has.

    Unknown keys are counted; an empty optional field counts as absent.
    """
    try:
        texts = reader.words.read(raw).texts
        if not texts:
            raise SourceFileError(_empty_reason(raw))
        fields = raw if isinstance(raw, Mapping) else {}
        labels = ("id", "name", "session", "time_zone")
        own: dict[str, Any] = {name: _label(name, fields.get(name)) for name in labels}
        timed = next(times.of_record(fields), None)
        if timed is not None:
            own["at"] = _time(timed, fields[timed], own["time_zone"] or reader.time_zone)
        by = next((name for name in fields if times.key(name) in _SENDERS), None)
        is_person = any(roles.is_human(one.role) for one in texts)
        if is_person:
            sender = None if by is None else _label(by, fields[by])
            own["name"] = reader.name_of(own["name"], sender)
        given = [*messages.with_words(own, texts)]
        reader.repaired += any(map(messages.is_broken, given))
        made = [Message(**one) for one in given]
    except messages.MessageError as error:
        raise SourceFileError(str(error)) from error
    except ValidationError as error:
        raise SourceFileError(_reason(error)) from error
    if "role" in fields:
        used = {name for name in (timed, by if is_person else None) if name}
        reader.count_unread(fields, messages.READ_FIELDS | Message.model_fields.keys() | used)
    return made


def _empty_reason(raw: object) -> str:
    content = raw.get("content") if isinstance(raw, Mapping) else None
    return "content is null" if content is None else "content has no text part"


def _reason(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    form = _REASONS.get(first["type"], "{field}: " + first["msg"])
    return form.format(field=first["loc"][0], **first.get("ctx", {}))


def _text(field: str, value: object) -> str:
    if not isinstance(value, str):
        raise SourceFileError(f"{field} is {messages.type_name(value)}, expected text")
    return value


def _label(field: str, value: object) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return _text(field, value)


def _time(field: str, value: object, zone: str | None) -> datetime:
    try:
        return times.parse(value, zone)
    except ValueError as error:
        raise SourceFileError(f"{field} {error}") from error
