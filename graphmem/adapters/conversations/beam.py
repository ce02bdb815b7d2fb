"""The BEAM layout: batches of turns of messages, dated by time anchors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from graphmem.adapters.conversations.dates import nth_second, written_instant
from graphmem.adapters.conversations.intake import Conversation, FileReading
from graphmem.model import Message
from graphmem.rules.identity import digest
from graphmem.rules.transcripts import assign_ids

_ANNOTATION = re.compile(r"->->\s*\d+\s*,\s*(?:\d+|N/A)\)?\s*$")
"""Suffix of many messages: the position in the dataset authors' plan, not part of the message."""


def beam_conversation(batches: Sequence[object], intake: FileReading) -> Conversation:
    """Return the chat of one file.

    The file has no chat id and numbers its messages from 0, so the chat's name is a digest of its
    first turn. The name does not change when the file is moved or grows.
    """
    name = f"beam-{digest(json.dumps(_first_turn(batches)))[:8]}"
    messages: list[Message] = []
    day: datetime | None = None
    position = -1
    for number, batch in enumerate(batches, 1):
        for place, session, raw in _messages(batch, number, intake):
            position += 1
            with intake.place(place):
                anchor = raw.get("time_anchor")
                day = written_instant(anchor) if anchor is not None else day
            with intake.place(place):
                at = nth_second(day, position)
                messages.append(intake.message(_renamed(raw, name, session, at)))
    return Conversation(name=name, messages=tuple(assign_ids(messages)))


def _first_turn(batches: Sequence[object]) -> object:
    turns = batches[0].get("turns") if isinstance(batches[0], Mapping) else None
    return turns[0] if isinstance(turns, list) and turns else None


def _messages(
    batch: object, number: int, intake: FileReading
) -> Iterator[tuple[str, int, Mapping[str, object]]]:
    """Yield (place, session number, message) of one batch; the first has the batch's anchor."""
    turns = batch.get("turns") if isinstance(batch, Mapping) else None
    if not isinstance(batch, Mapping) or not isinstance(turns, list):
        intake.refuse(f"batch {number}", "expected an object with a list of turns")
        return
    anchor = batch.get("time_anchor")
    for turn_number, turn in enumerate(turns, 1):
        for message in turn if isinstance(turn, list) else [turn]:
            place = f"batch {number}, turn {turn_number}"
            if not isinstance(message, Mapping):
                intake.refuse(place, "expected a list of messages")
                continue
            yield place, number, {"time_anchor": anchor, **message}
            anchor = None


def _renamed(
    raw: Mapping[str, object], name: str, number: int, at: str | None
) -> Mapping[str, object]:
    renamed = {**raw, "session": f"{name}/batch_{number}", "at": at}
    content, own_id = raw.get("content"), raw.get("id")
    if isinstance(content, str) and _ANNOTATION.search(content):
        renamed["content"] = _ANNOTATION.sub("", content).rstrip()
    if isinstance(own_id, int | str) and not isinstance(own_id, bool):
        renamed["id"] = f"{name}/{own_id}"
    return renamed
