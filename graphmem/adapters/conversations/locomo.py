"""The LoCoMo layout: samples whose conversation contains numbered sessions of turns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from graphmem.adapters.conversations.dates import nth_second, written_instant
from graphmem.adapters.conversations.intake import Conversation, FileReading
from graphmem.errors import SourceFileError
from graphmem.model import Message

_SESSION = re.compile(r"session_(\d{1,6})")


def locomo_conversations(samples: Sequence[object], intake: FileReading) -> list[Conversation]:
    """Return one conversation per sample, sessions in the order of their numbers."""
    conversations = []
    for number, sample in enumerate(samples, 1):
        parts = None
        with intake.place(f"sample {number}"):
            parts = _parts(sample)
        if parts:
            conversations.append(_conversation(*parts, intake))
    return conversations


def _parts(sample: object) -> tuple[str, Mapping[str, object]]:
    if not isinstance(sample, Mapping):
        raise SourceFileError("expected an object with sample_id and conversation")
    name, sessions = sample.get("sample_id"), sample.get("conversation")
    if not isinstance(name, str) or not name.strip():
        raise SourceFileError("sample_id is missing")
    if not isinstance(sessions, Mapping):
        raise SourceFileError("conversation is missing")
    return name, sessions


def _conversation(name: str, sessions: Mapping[str, object], intake: FileReading) -> Conversation:
    matches = [match for key in sessions if (match := _SESSION.fullmatch(key))]
    messages: list[Message] = []
    for match in sorted(matches, key=lambda match: int(match[1])):
        session, turns, started = f"{name}/{match[0]}", sessions[match[0]], None
        with intake.place(session):
            started = written_instant(sessions.get(f"{match[0]}_date_time"))
        if isinstance(turns, list):
            messages += _turns(turns, session, started, intake)
        else:
            intake.refuse(session, "expected a list of turns")
    return Conversation(name=name, messages=tuple(messages))


def _turns(
    turns: list[object], session: str, started: datetime | None, intake: FileReading
) -> list[Message]:
    messages = []
    for position, turn in enumerate(turns):
        with intake.place(f"{session}, turn {position + 1}"):
            messages.append(intake.message(_raw(turn, session, nth_second(started, position))))
    return messages


def _raw(turn: object, session: str, at: str | None) -> Mapping[str, object]:
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
