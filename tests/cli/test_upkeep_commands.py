"""`graphmem consolidate --digest FILE --compress`, and putting an episode back."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from graphmem import GraphMem, Handle
from graphmem.rules.upkeep import BEGIN

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
    wanted = ("consolidate", "--digest", str(file), "--compress")
    shown = run(*wanted, "--dry-run")
    assert shown.code == 0
    for part in (
        "Would graduate into MEMORY.md: 1 episode.",
        "- 2025-05-05: Ann moved \\[bold\\]house\\[/bold\\]. `dear`",
        f"Would be compressed: 1 episode, {len(LONG) - 10:,} characters saved.",
        "5 May 2025  Ann moved.   long, 1,080 characters",
    ):
        assert part in shown.out
    assert not file.exists()
    assert not told.episodes.get("long").compressed
    done = run(*wanted)
    assert done.out == shown.out.replace("Would graduate", "Graduated").replace(
        "Would be compressed", "Compressed"
    )
    assert "`dear`" in file.read_text()
    assert told.episodes.get("long").compressed
    again = run(*wanted)
    assert "No episode is due for MEMORY.md." in again.out
    assert "No episode to compress." in again.out


def test_json_is_one_document(run: Run, told: Handle, file: Path) -> None:
    file.write_text(f"{BEGIN}\n`dear`\n<!-- graphmem:end -->\n")
    data = run("consolidate", "--digest", str(file), "--compress", "--json").data
    assert data["applied"] is False
    [graduate] = data["graduation"]["episodes"]
    assert (graduate["episode_id"], graduate["added"]) == ("dear", False)
    [one] = data["compression"]["episodes"]
    assert (one["episode_id"], one["characters"], one["kept"]) == ("long", 1_080, "Ann moved.")
    assert {"graduation", "compression"}.isdisjoint(run("consolidate", "--json").data)


def test_without_the_options_nothing_is_kept_up(run: Run, told: Handle) -> None:
    assert "ompress" not in run("consolidate").out
    assert not told.episodes.get("long").compressed


def test_what_was_there_is_said(run: Run, told: Handle, file: Path) -> None:
    file.write_text(f"{BEGIN}\n`dear`\n<!-- graphmem:end -->\n")
    assert "`dear`   already present" in run("consolidate", "--digest", str(file)).out


def test_a_file_that_cannot_be_used_is_said_first(
    run: Run, told: Handle, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(f"\n{BEGIN}\n")

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(GraphMem, "consolidate", never)
    ended = run("consolidate", "--digest", str(file))
    assert ended.code == 2
    assert "Error (digest_file): MEMORY.md, line 2: the digest begins and never ends." in ended.err


def test_it_keeps_up_after_each_run(
    run: Run, told: Handle, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(10):
        told.episodes.add(episode_id=f"e{n}", summary=f"note {n}")

    def stop(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", stop)
    ended = run("consolidate", "--every", "4h", "--digest", str(file), "--compress")
    assert ended.code == 130
    assert "`dear`" in file.read_text()
    assert told.episodes.get("long").compressed


def test_an_episode_is_put_back(run: Run, told: Handle) -> None:
    told.episodes.add(episode_id="untold", content=LONG, at=MAY)
    run("consolidate", "--compress")
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
    shown = run("consolidate", "--compress", "--dry-run").out
    assert "Would be compressed: 22 episodes" in shown
    assert "e19, 1,080 characters" in shown
    assert "e20, 1,080 characters" not in shown
    assert "and 2 more" in shown
