"""The benchmark of extraction's checks: its corruptions are what they say, on made-up talk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.extraction import BLIND, CORRUPTIONS, _as_it_is, _by_rules, _corrupted, _scripted
from bench.extraction import _sessions as sessions
from graphmem.cli.conversation_files import read_conversations
from graphmem.extraction.windows import TurnWindow

MESSAGES = [
    {"role": "user", "content": "I moved to Lisbon with seven suitcases."},
    {"role": "assistant", "content": "Lisbon has seven hills and many trams."},
    {"role": "user", "content": "I like green tea."},
    {"role": "user", "content": "Ok."},
]


@pytest.fixture
def talk(tmp_path: Path) -> list[list[TurnWindow]]:
    path = tmp_path / "talk.jsonl"
    path.write_text("\n".join(map(json.dumps, MESSAGES)) + "\n")
    return [one for found in read_conversations(path).conversations for one in sessions(found)]


def test_every_corruption_is_refused_and_nothing_honest(talk: list[list[TurnWindow]]) -> None:
    cases = [case for session in talk for case in _scripted(session)]
    assert len(cases) == 2
    rows = {str(row["proposals"]): row for row in _corrupted("talk", cases).rows}
    assert rows.keys() == CORRUPTIONS.keys()
    for name, row in rows.items():
        if name not in BLIND:
            assert row["met"] is True, name
            assert row["refused %"] == (0 if CORRUPTIONS[name] is _as_it_is else 100)
    assert {rows[name]["met"] for name in BLIND} == {None}


def test_what_the_rules_find_is_counted(talk: list[list[TurnWindow]]) -> None:
    [row] = _by_rules("talk", talk).rows
    assert (row["turns of people"], row["facts"], row["refused"]) == (3, 2, "0")
