"""`graphmem episode`: write, read, graduate, compress and restore episodes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from graphmem import Handle
from graphmem.upkeep.rules import BEGIN

Run = Callable[..., Any]
MAY = datetime(2025, 5, 5, tzinfo=UTC)
LONG = "Ann moved to Porto in May. " * 40


@pytest.fixture
def told(plain: Handle) -> Handle:
    plain.episodes.add(
        episode_id="dear", summary="Ann moved [bold]house[/bold].", importance=0.9, at=MAY
    )
    plain.episodes.add(episode_id="long", content=LONG, summary="Ann moved.", at=MAY)
    return plain


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "MEMORY.md"


def test_a_dry_run_shows_what_the_run_then_does(run: Run, told: Handle, file: Path) -> None:
    wanted = (("episode", "graduate", str(file)), ("episode", "compress"))
    shown = "".join(run(*words, "--dry-run").out for words in wanted)
    for part in (
        "Would graduate into MEMORY.md: 1 episode.",
        "- 2025-05-05: Ann moved \\[bold\\]house\\[/bold\\]. `dear`",
        f"Would be compressed: 1 episode, {len(LONG) - 10:,} characters saved.",
        "5 May 2025  Ann moved.   long, 1,080 characters",
    ):
        assert part in shown
    assert not file.exists()
    assert not told.episodes.get("long").compressed
    done = "".join(run(*words).out for words in wanted)
    assert done == shown.replace("Would graduate", "Graduated").replace(
        "Would be compressed", "Compressed"
    )
    assert "`dear`" in file.read_text()
    assert told.episodes.get("long").compressed
    history = run("episode", "history", "dear").out
    assert "GRADUATE" in history
    assert "importance 0.90, 0 accesses," in history
    assert [one["type"] for one in run("episode", "history", "long", "--json").data] == ["COMPRESS"]
    again = "".join(run(*words).out for words in wanted)
    assert "No episode is due for MEMORY.md." in again
    assert "No episode to compress." in again


def test_json_has_the_episodes(run: Run, told: Handle, file: Path) -> None:
    file.write_text(f"{BEGIN}\n`dear`\n<!-- graphmem:end -->\n")
    [graduate] = run("episode", "graduate", str(file), "--json").data["episodes"]
    assert (graduate["episode_id"], graduate["added"]) == ("dear", False)
    [one] = run("episode", "compress", "--json").data["episodes"]
    assert (one["episode_id"], one["characters"], one["kept"]) == ("long", 1_080, "Ann moved.")


def test_what_was_there_is_said(run: Run, told: Handle, file: Path) -> None:
    file.write_text(f"{BEGIN}\n`dear`\n<!-- graphmem:end -->\n")
    assert "`dear`   already present" in run("episode", "graduate", str(file)).out


def test_a_file_that_cannot_be_used_is_said(run: Run, told: Handle, file: Path) -> None:
    file.write_text(f"\n{BEGIN}\n")
    ended = run("episode", "graduate", str(file))
    assert ended.code == 2
    assert "Error (digest_file): MEMORY.md, line 2: the digest begins and never ends." in ended.err


def test_an_episode_is_written_and_read(run: Run) -> None:
    words = ("episode", "add", "--episode-id", "e1", "--content", LONG, "--entity", "Ann")
    assert run(*words, "--json").data == {"episode_id": "e1"}
    assert run("episode", "get", "e1", "--json").data["entities"] == ["Ann"]
    assert "about Ann" in run("episode", "get", "e1").out
    assert run("episode", "get", "nobody").code == 1


def test_the_turns_of_an_episode_are_listed(run: Run, plain: Handle) -> None:
    said = [{"role": "user", "content": f"I swim on day {n}."} for n in range(3)]
    with plain.session("monday") as session:
        session.add_messages(said)
    shown = run("episode", "turns", session.episode_id).out.splitlines()
    assert [line.split("   ")[0] for line in shown] == [f"user: {one['content']}" for one in said]
    page = ["episode", "turns", session.episode_id, "--limit", "1", "--json"]
    cursor = run(*page).data["next_cursor"]
    found = run(*page, "--cursor", cursor).data
    assert [turn["text"] for turn in found["turns"]] == ["I swim on day 1."]


def test_an_episode_is_put_back(run: Run, told: Handle) -> None:
    told.episodes.add(episode_id="untold", content=LONG, at=MAY)
    run("episode", "compress")
    shown = run("expand", "untold").out
    assert "compressed; `graphmem episode restore untold`" in shown
    assert "Ann moved to Porto in May." in shown
    done = run("episode", "restore", "untold")
    assert done.code == 0
    assert "untold is restored; event restore_episode_" in done.out
    assert told.episodes.get("untold").content == LONG
    assert "compressed" not in run("expand", "untold").out
    again = run("episode", "restore", "untold", "--json")
    assert again.data == {"episode_id": "untold", "changed": False, "event_id": None}
    assert "untold was not compressed." in run("episode", "restore", "untold").out
    assert run("episode", "restore", "nobody").code == 1


def test_more_than_twenty_are_counted(run: Run, plain: Handle) -> None:
    for n in range(22):
        plain.episodes.add(episode_id=f"e{n:02}", content=LONG, at=MAY)
    shown = run("episode", "compress", "--dry-run").out
    assert "Would be compressed: 22 episodes" in shown
    assert "e19, 1,080 characters" in shown
    assert "e20, 1,080 characters" not in shown
    assert "and 2 more" in shown
