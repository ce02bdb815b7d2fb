"""Whether a passage supports a statement, refutes it, or is about something else."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from graphmem.consolidation import rules
from graphmem.english.passages import Passage
from graphmem.model import EvidenceKind

FOR, AGAINST = EvidenceKind.SUPPORTING, EvidenceKind.REFUTING


def relation(text: str, statement: str, name: str | None = None) -> EvidenceKind | None:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    return rules.relation(Passage("t", "Turn", "ep", name, text, at), statement)


@pytest.mark.parametrize(
    ("text", "statement", "found"),
    [
        ("I love hiking in the mountains", "I really love to hike mountains", FOR),
        ("Bob doesn't drink coffee", "Bob drinks coffee", AGAINST),
        ("Bob drinks coffee", "Bob never drinks coffee", AGAINST),
        ("I no longer drink coffee", "I drink coffee", AGAINST),
        ("I don't drink coffee", "I never drink coffee", FOR),
        ("I have two cats at home", "I have three cats at home", AGAINST),
        ("Once more I swim in the lake", "I swim in the lake", FOR),
        ("We ran 10 km in the park", "I ran 5 km on Monday with Eve", None),
        ("Anna drinks tea at home every day", "Anna drinks coffee at home every day", None),
        ("Anna drinks tea in the evening", "Anna drinks tea in the evening at home", FOR),
        ("First a green tea, then the mails.", "First a black coffee, then the mails.", None),
        (
            "I swim in the lake. Please write to Tom.",
            "I swim in the lake. Please write to Tom.",
            None,
        ),
        ("The papers are due on 11 May", "The papers are due on 4 May", AGAINST),
        ("The papers are due on 4 May 2026", "The papers are due on 4 May", FOR),
        ("The papers are due in May", "The papers are due on 4 May", FOR),
        ("I meet Eve on Friday at the pool", "On Monday I meet Tom for lunch", None),
        ("The meeting is at 4 PM", "The meeting is at 3 PM", AGAINST),
        ("The meeting is at 15:00", "The meeting is at 3 PM", FOR),
        ("We moved here in May 2024", "We moved here in May 2025", AGAINST),
        ("I swim every morning", "This morning I swim", FOR),
        # A negation among other words is a doubt, and a doubt is no evidence.
        ("I drink coffee, but I don't sleep well and the doctor frowned", "I drink coffee", None),
    ],
)
def test_facts_decide_which_way_a_near_passage_points(
    text: str, statement: str, found: EvidenceKind | None
) -> None:
    assert relation(text, statement) is found


@pytest.mark.parametrize(
    ("name", "statement", "found"),
    [
        ("Ada", "Ada: I drink coffee", FOR),
        ("Ada Lovelace", "ada drinks coffee", FOR),
        ("Ada", "Bob: I drink coffee", None),
        ("Ada", "I drink coffee", None),
        (None, "I drink coffee", FOR),
    ],
)
def test_what_a_speaker_says_of_themselves_is_evidence_about_nobody_else(
    name: str | None, statement: str, found: EvidenceKind | None
) -> None:
    assert relation("I drink coffee", statement, name) is found
