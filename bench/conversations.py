"""Read the conversations and questions of the benchmark data sets LoCoMo and BEAM."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from graphmem.cli.conversation_files import (
    Conversation,
    FileReader,
    open_text_file,
    parse_document,
)
from graphmem.conversation.ingestion import assign_ids
from graphmem.model import Message
from graphmem.rules.identity import digest

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


def read_conversations(path: Path) -> list[Conversation]:
    """Return the conversations of a LoCoMo file, or the chat of a BEAM file.

    LoCoMo is a list of samples, whose sessions are dated. BEAM is a list of batches of turns of
    messages, dated by time anchors. A BEAM file has no chat id and numbers its messages from 0, so
    the chat's name is a digest of its first turn; it does not change when the file is moved or
    grows.

    Raises:
        SourceFileError: the file cannot be read, or a message in it has a problem.
    """
    reader = FileReader(path, strict=True)
    with open_text_file(path) as handle:
        items: Any = parse_document(path, handle)
    if "turns" in items[0]:
        return [_beam(items, reader)]
    return [_locomo(sample["sample_id"], sample["conversation"], reader) for sample in items]


def _locomo(name: str, sessions: Mapping[str, Any], reader: FileReader) -> Conversation:
    """Return a conversation with its sessions in the order of their numbers."""
    matches = [match for key in sessions if (match := _SESSION.fullmatch(key))]
    messages: list[Message] = []
    for match in sorted(matches, key=lambda match: int(match[1])):
        started = _timestamp(sessions[f"{match[0]}_date_time"])
        for position, turn in enumerate(sessions[match[0]]):
            caption = turn.get("blip_caption")
            messages += reader.read(
                {
                    "role": "user",
                    "content": f"{turn['text']} [image: {caption}]" if caption else turn["text"],
                    "name": turn["speaker"],
                    "at": _nth_second(started, position),
                    "id": f"{name}/{turn['dia_id']}",
                    "session": f"{name}/{match[0]}",
                }
            )
    return Conversation(name=name, messages=tuple(messages))


def _beam(batches: Sequence[Mapping[str, Any]], reader: FileReader) -> Conversation:
    name = f"beam-{digest(json.dumps(batches[0]['turns'][0]))[:8]}"
    messages: list[Message] = []
    day: datetime | None = None
    position = -1
    for number, batch in enumerate(batches, 1):
        # The first message of a batch has the batch's anchor, unless it has its own.
        anchor = batch.get("time_anchor")
        for raw in itertools.chain.from_iterable(batch["turns"]):
            position += 1
            own = raw.get("time_anchor", anchor)
            anchor = None
            day = day if own is None else _timestamp(own)
            messages += reader.read(_beam_message(raw, name, number, _nth_second(day, position)))
    return Conversation(name=name, messages=tuple(assign_ids(messages)))


def _beam_message(
    raw: Mapping[str, Any], name: str, number: int, at: str | None
) -> Mapping[str, object]:
    content = raw["content"]
    if _ANNOTATION.search(content):
        content = _ANNOTATION.sub("", content).rstrip()
    own = {"id": f"{name}/{raw['id']}"} if "id" in raw else {}
    return {**raw, **own, "content": content, "session": f"{name}/batch_{number}", "at": at}


def _timestamp(text: str) -> datetime:
    """Return "1:56 pm on 8 May, 2023" or "March-15-2024" (midnight) as a UTC timestamp."""
    form = "%I:%M %p on %d %B, %Y" if " on " in text else "%B-%d-%Y"
    return datetime.strptime(text.strip(), form).replace(tzinfo=UTC)


def _nth_second(start: datetime | None, position: int) -> str | None:
    """Return the ISO timestamp `position` seconds after `start`, which preserves the order."""
    return None if start is None else (start + timedelta(seconds=position)).isoformat()


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
