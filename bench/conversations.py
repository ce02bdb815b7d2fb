"""Read the conversations and questions of the benchmark data sets LoCoMo and BEAM."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from graphmem.adapters.conversations import (
    Conversation,
    ConversationFile,
    FileReader,
    open_text_file,
    parse_document,
)
from graphmem.errors import SourceFileError
from graphmem.model import Message
from graphmem.rules.identity import digest
from graphmem.rules.transcripts import assign_ids

_SESSION = re.compile(r"session_(\d{1,6})")
_ANNOTATION = re.compile(r"->->\s*\d+\s*,\s*(?:\d+|N/A)\)?\s*$")
"""Suffix of many BEAM messages: the position in the authors' plan, not part of the message."""

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
ABSTENTION = "abstention"


@dataclass(frozen=True, slots=True)
class Question:
    """A question with known evidence."""

    conversation: str
    text: str
    category: str
    evidence: frozenset[str]
    """Source ids of the messages that answer it."""
    sides: tuple[frozenset[str], ...] = ()
    """The same ids, divided into earlier and later statements."""
    id: str = field(default="", compare=False)
    """Name of the conversation and place of the question in its file, from 0."""


def read_conversations(path: Path, *, strict: bool = False) -> ConversationFile:
    """Return the conversations of a LoCoMo file, or the chat of a BEAM file.

    LoCoMo is one sample or a list of samples, whose sessions are dated. BEAM is a list of batches
    of turns of messages, dated by time anchors. A BEAM file has no chat id and numbers its messages
    from 0, so the chat's name is a digest of its first turn; it does not change when the file is
    moved or grows.

    Raises:
        SourceFileError: the file cannot be read, or it has a problem and `strict` is True.
    """
    reader = FileReader(path, strict=strict)
    with open_text_file(path) as handle:
        document = parse_document(path, handle)
    items = document if isinstance(document, list) else [document]
    is_beam = bool(items) and isinstance(items[0], Mapping) and "turns" in items[0]
    conversations = [_beam(items, reader)] if is_beam else _locomo(items, reader)
    return ConversationFile(conversations=tuple(conversations), problems=tuple(reader.problems))


def _locomo(samples: Sequence[object], reader: FileReader) -> list[Conversation]:
    """Return one conversation per sample, sessions in the order of their numbers."""
    conversations = []
    for number, sample in enumerate(samples, 1):
        parts = None
        with reader.location(f"sample {number}"):
            parts = _sample(sample)
        if parts:
            conversations.append(_conversation(*parts, reader))
    return conversations


def _sample(sample: object) -> tuple[str, Mapping[str, object]]:
    if not isinstance(sample, Mapping):
        raise SourceFileError("expected an object with sample_id and conversation")
    name, sessions = sample.get("sample_id"), sample.get("conversation")
    if not isinstance(name, str) or not name.strip():
        raise SourceFileError("sample_id is missing")
    if not isinstance(sessions, Mapping):
        raise SourceFileError("conversation is missing")
    return name, sessions


def _conversation(name: str, sessions: Mapping[str, object], reader: FileReader) -> Conversation:
    matches = [match for key in sessions if (match := _SESSION.fullmatch(key))]
    messages: list[Message] = []
    for match in sorted(matches, key=lambda match: int(match[1])):
        session, turns, started = f"{name}/{match[0]}", sessions[match[0]], None
        with reader.location(session):
            started = _timestamp(sessions.get(f"{match[0]}_date_time"))
        if isinstance(turns, list):
            messages += _turns(turns, session, started, reader)
        else:
            reader.reject(session, "expected a list of turns")
    return Conversation(name=name, messages=tuple(messages))


def _turns(
    turns: list[object], session: str, started: datetime | None, reader: FileReader
) -> list[Message]:
    messages: list[Message] = []
    for position, turn in enumerate(turns):
        with reader.location(f"{session}, turn {position + 1}"):
            messages += reader.read(_raw_message(turn, session, _nth_second(started, position)))
    return messages


def _raw_message(turn: object, session: str, at: str | None) -> Mapping[str, object]:
    if not isinstance(turn, Mapping):
        raise SourceFileError("expected an object with speaker, dia_id and text")
    text, caption, dia_id = turn.get("text"), turn.get("blip_caption"), turn.get("dia_id")
    if not isinstance(text, str) or not isinstance(dia_id, str):
        raise SourceFileError("dia_id or text is missing")
    sample = session.rpartition("/")[0]
    return {
        "role": "user",
        "content": f"{text} [image: {caption}]" if isinstance(caption, str) else text,
        "name": turn.get("speaker"),
        "at": at,
        "id": f"{sample}/{dia_id}",
        "session": session,
    }


def _beam(batches: Sequence[object], reader: FileReader) -> Conversation:
    name = f"beam-{digest(json.dumps(_first_turn(batches)))[:8]}"
    messages: list[Message] = []
    day: datetime | None = None
    position = -1
    for number, batch in enumerate(batches, 1):
        for place, session, raw in _beam_messages(batch, number, reader):
            position += 1
            with reader.location(place):
                anchor = raw.get("time_anchor")
                day = _timestamp(anchor) if anchor is not None else day
            with reader.location(place):
                at = _nth_second(day, position)
                messages += reader.read(_beam_message(raw, name, session, at))
    return Conversation(name=name, messages=tuple(assign_ids(messages)))


def _first_turn(batches: Sequence[object]) -> object:
    turns = batches[0].get("turns") if isinstance(batches[0], Mapping) else None
    return turns[0] if isinstance(turns, list) and turns else None


def _beam_messages(
    batch: object, number: int, reader: FileReader
) -> Iterator[tuple[str, int, Mapping[str, object]]]:
    """Yield (place, session number, message) of one batch; the first has the batch's anchor."""
    turns = batch.get("turns") if isinstance(batch, Mapping) else None
    if not isinstance(batch, Mapping) or not isinstance(turns, list):
        reader.reject(f"batch {number}", "expected an object with a list of turns")
        return
    anchor = batch.get("time_anchor")
    for turn_number, turn in enumerate(turns, 1):
        for message in turn if isinstance(turn, list) else [turn]:
            place = f"batch {number}, turn {turn_number}"
            if not isinstance(message, Mapping):
                reader.reject(place, "expected a list of messages")
                continue
            yield place, number, {"time_anchor": anchor, **message}
            anchor = None


def _beam_message(
    raw: Mapping[str, object], name: str, number: int, at: str | None
) -> Mapping[str, object]:
    renamed = {**raw, "session": f"{name}/batch_{number}", "at": at}
    content, own_id = raw.get("content"), raw.get("id")
    if isinstance(content, str) and _ANNOTATION.search(content):
        renamed["content"] = _ANNOTATION.sub("", content).rstrip()
    if isinstance(own_id, int | str) and not isinstance(own_id, bool):
        renamed["id"] = f"{name}/{own_id}"
    return renamed


def _timestamp(text: object) -> datetime:
    """Return "1:56 pm on 8 May, 2023" or "March-15-2024" (midnight) as a UTC timestamp."""
    for form in ("%I:%M %p on %d %B, %Y", "%B-%d-%Y"):
        try:
            return datetime.strptime(str(text).strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise SourceFileError(
        "the date is missing or unreadable; expected the form "
        "'1:56 pm on 8 May, 2023' or 'March-15-2024'"
    )


def _nth_second(start: datetime | None, position: int) -> str | None:
    """Return the ISO timestamp `position` seconds after `start`, which preserves the order."""
    if start is None:
        return None
    try:
        return (start + timedelta(seconds=position)).isoformat()
    except OverflowError as error:
        raise SourceFileError("the date is after the year 9999") from error


def locomo_questions(samples: Sequence[Mapping[str, Any]]) -> Iterator[Question]:
    """Yield the questions of category 1 to 4 that have evidence.

    Some evidence is written in one string ("D8:6; D9:17") or with an extra zero ("D30:05");
    references to missing turns are ignored.
    """
    for sample in samples:
        name = sample["sample_id"]
        known = {
            turn["dia_id"]
            for key, turns in sample["conversation"].items()
            if re.fullmatch(r"session_\d+", key)
            for turn in turns
        }
        for number, qa in enumerate(sample["qa"]):
            found = re.findall(r"D(\d+):(\d+)", " ".join(qa.get("evidence") or ()))
            ids = {f"D{int(session)}:{int(turn)}" for session, turn in found} & known
            if ids and qa["category"] in CATEGORIES:
                evidence = frozenset(f"{name}/{i}" for i in ids)
                category = CATEGORIES[qa["category"]]
                yield Question(name, qa["question"], category, evidence, id=f"{name}/qa{number}")


def beam_questions(name: str, probing: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Question]:
    """Return the questions about one BEAM chat with evidence, and those that cannot have any."""
    return [
        Question(
            name,
            asked["question"],
            kind,
            _named(name, ids),
            _sides(name, ids),
            id=f"{name}/{kind}/{number}",
        )
        for kind, questions in probing.items()
        for number, asked in enumerate(questions)
        if (ids := asked.get("source_chat_ids")) or kind == ABSTENTION
    ]


def _sides(name: str, ids: object) -> tuple[frozenset[str], ...]:
    return tuple(_named(name, side) for side in ids.values()) if isinstance(ids, Mapping) else ()


def _named(name: str, ids: object) -> frozenset[str]:
    return frozenset(f"{name}/{i}" for i in _numbers(ids))


def _numbers(ids: object) -> Iterator[object]:
    if ids is None:
        return
    if isinstance(ids, Mapping):
        ids = list(ids.values())
    if isinstance(ids, list):
        for item in ids:
            yield from _numbers(item)
    else:
        yield ids
