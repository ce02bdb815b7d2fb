"""`graphmem belief extract`, `graphmem proposal` and `ingest --extract`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from graphmem.cli.console import day
from tests.plugins.chat_service import KEY, ChatService
from tests.plugins.offers import LISBON, answered, offer

Run = Callable[..., Any]
SAID = [
    {"role": "user", "content": "I moved to Lisbon.", "session": "monday"},
    {"role": "assistant", "content": "I live in the cloud.", "session": "monday"},
    {"role": "user", "content": "I like green tea.", "session": "tuesday"},
]


@pytest.fixture
def talk(tmp_path: Path) -> str:
    path = tmp_path / "talk.jsonl"
    path.write_text("\n".join(map(json.dumps, SAID)) + "\n")
    return str(path)


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatService]:
    """A language model that the environment names."""
    with ChatService.opened() as opened:
        opened.always = lambda _: answered()
        # The model reads the facts in these tests, not the rules before it.
        monkeypatch.setenv("GRAPHMEM_SESSION_FACTS", "false")
        monkeypatch.setenv("GRAPHMEM_MODEL", "openai/some-model")
        monkeypatch.setenv("GRAPHMEM_MODEL_URL", opened.url)
        monkeypatch.setenv("GRAPHMEM_MODEL_KEY", KEY)
        yield opened


def test_a_file_is_ingested_and_extracted_once(run: Run, talk: str) -> None:
    first = run("ingest", talk, "--extract", "--rules", "--json")
    assert first.code == 0
    done = first.data["extractions"]
    assert [one["session_id"] for one in done] == ["monday", "tuesday"]
    assert [p["object"] for one in done for p in one["proposals"]] == ["Lisbon", "green tea"]
    again = run("ingest", talk, "--extract", "--rules", "--json").data["extractions"]
    assert [one["turns"] for one in again] == [0, 0]
    shown = run("belief", "current", "user", "lives_in", "--json").data
    assert shown["candidates"][0]["object"] == "Lisbon"
    assert "extractions" not in run("ingest", talk, "--json").data


def test_a_dry_run_shows_what_the_run_writes(run: Run, talk: str, service: ChatService) -> None:
    run("ingest", talk)
    service.script([LISBON, LISBON])
    args = ("belief", "extract", "--session-id", "monday")
    dry = run(*args, "--dry-run")
    assert dry.code == 0
    assert "Would be written: 1; dismissed: none" in dry.out
    for words in ("user lives in Lisbon", "“I moved to Lisbon”", "0.90 EXTRACTOR, new"):
        assert words in dry.out
    assert run("belief", "list", "--json").data["beliefs"] == []
    done = run(*args)
    assert "Written: 1; dismissed: none" in done.out
    assert "1 request, 100 + 20 tokens" in done.out
    assert "0 turns read, 2 before" in run(*args).out


def test_what_is_refused_and_what_is_to_declare_is_shown(
    run: Run, talk: str, service: ChatService
) -> None:
    run("ingest", talk)
    service.script(
        [
            answered(
                offer("t1", "I moved to Rome", "Rome"),
                offer("t1", "I moved to Lisbon", "Lisbon", cardinality="ONE"),
            )
        ]
    )
    shown = run("belief", "extract", "--session-id", "monday")
    assert "quote_not_found: the quote does not occur in the turn" in shown.out
    assert "dismissed: 1 quote_not_found" in shown.out
    assert "to declare: graphmem predicate declare lives_in --cardinality ONE" in shown.out


def test_turns_that_could_not_be_read_are_a_finding(
    run: Run, talk: str, service: ChatService
) -> None:
    run("ingest", talk)
    service.script(["prose", "prose"])
    ended = run("belief", "extract", "--session-id", "monday")
    assert ended.code == 1
    assert "(model_reply), will be retried" in " ".join(ended.out.replace("↳", "").split())
    assert KEY not in ended.out + ended.err


@pytest.mark.parametrize("status", [401, 503])
def test_a_model_that_cannot_be_reached_ends_with_its_code(
    run: Run, talk: str, service: ChatService, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHMEM_MODEL_MAX_RETRIES", "0")
    run("ingest", talk)
    service.script([service.status(status)] * 2)
    ended = run("belief", "extract", "--session-id", "monday", "--json")
    assert ended.code == 4
    assert [window["code"] for window in ended.data["unread"]] == ["model_unavailable"]
    assert KEY not in ended.out + ended.err


def test_nothing_is_ingested_without_the_model(
    run: Run, talk: str, service: ChatService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHMEM_MODEL_MAX_RETRIES", "0")
    service.script([service.status(503)])
    down = run("ingest", talk, "--extract")
    assert (down.code, down.out) == (4, "")
    assert "model_unavailable" in down.err
    monkeypatch.delenv("GRAPHMEM_MODEL")
    unset = run("ingest", talk, "--extract")
    assert (unset.code, unset.out) == (2, "")
    assert "No language model is set; nothing was ingested. Set GRAPHMEM_MODEL" in unset.err
    assert run("memory", "list", "--json").data["memories"] == []

    monkeypatch.setenv("GRAPHMEM_MODEL", "openai/some-model")
    service.script(['{"ready": true}', LISBON])
    done = run("ingest", talk, "--extract", "--json")
    assert done.code == 0
    assert [len(one["proposals"]) for one in done.data["extractions"]] == [1, 0]


def test_proposals_are_listed_accepted_and_dismissed(run: Run, talk: str) -> None:
    up = run("ingest", talk, "--extract", "--rules", "--review")
    assert "Submitted for review: 1" in up.out
    found = run("proposal", "list", "--json").data["proposals"]
    one, two = (proposal["id"] for proposal in found)
    shown = run("proposal", "list").out
    # Since when each waits, besides when it was said.
    assert shown.count(f"open since {day(datetime.now(UTC))}") == len(found)
    assert one in shown
    assert "“I moved to Lisbon”" in shown
    assert "1 proposal accepted." in run("proposal", "accept", one, "--note", "asked").out
    assert "1 proposal dismissed." in run("proposal", "dismiss", two, "--actor", "ann").out
    assert "No matching proposals." in run("proposal", "list").out
    [accepted] = run("proposal", "list", "--status", "accepted", "--json").data["proposals"]
    assert accepted["id"] == one
    [belief] = run("belief", "list", "--json").data["beliefs"]
    assert belief["statement"] == "user lives in Lisbon"
    again = run("proposal", "accept", one, "--json").data
    assert (again["proposal_ids"], again["repeated"]) == ([], [one])
    refused = run("proposal", "dismiss", one)
    assert refused.code == 1
    assert "retract" in refused.err


def test_without_a_model_it_says_what_to_do(run: Run, talk: str) -> None:
    run("ingest", talk)
    ended = run("belief", "extract", "--session-id", "monday")
    assert ended.code == 2
    assert "GRAPHMEM_MODEL" in ended.err
    assert "--rules" in ended.err
    assert run("ingest", talk, "--rules").code == 2
    assert run("belief", "extract", "--session-id", "nowhere", "--rules").code == 1
