"""`graphmem usage dashboard --live`: its keys, its refreshes, and what it says of errors."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from textual.widgets import HelpPanel

from graphmem import GraphMem
from graphmem.cli import dashboard, main
from graphmem.cli.dashboard import DetailScreen
from graphmem.client.usage import RATED
from graphmem.errors import GraphUnavailableError, NotFoundError
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder
from tests.cli.watching import NOW, Figures, Terminal, Watched, rated, told, watch
from tests.plugins.texts import unlike


def test_all_five_parts_are_there_at_once() -> None:
    async def play(one: Watched) -> None:
        assert one.figures.asked == [(RATED, 20)]
        assert one.column(0, 0) == ["1250", "1180"]
        assert one.column(0, 1) == ["MEDIUM", "LOW"]
        assert one.column(1, 0) == ["1150", "1200"]
        assert [len(bar) for bar in one.column(1, 1)] == [13, 40]
        assert one.column(2, 0) == ["HIGH", "MEDIUM", "LOW", "VERY_LOW"]
        assert one.column(2, 2) == ["0 %", "75 %", "25 %", "0 %"]
        assert one.column(3, 1) == ["monday", "–", "monday"]
        assert one.column(3, 2) == ["recall: where is it?", "opened", "recall: nothing at all"]
        assert one.column(3, 3) == ["says m1 · says t1", "says b1", ""]
        assert one.column(4, 2) == ["1208", "1208"]
        assert "every 3600 s · all kinds" in one.status()
        assert "says m1" in one.seen()

    watch(Figures(), play)


def test_keys_move_between_panes() -> None:
    async def play(one: Watched) -> None:
        panes = [one.pane]
        for key in ("tab", "tab", "shift+tab", "shift+tab", "shift+tab", "tab", "5", "1", "4"):
            await one.press(key)
            panes.append(one.pane)
        assert panes == [0, 1, 2, 1, 0, 4, 0, 4, 0, 3]
        assert "where is it?" in one.seen()

    watch(Figures(), play)


def test_a_refresh_leaves_the_cursor_on_its_row_and_the_view_where_it_is() -> None:
    many = [rated(f"m{n}", 1300 - n) for n in range(100)]

    async def play(one: Watched) -> None:
        await one.press("pagedown", "pagedown", "down")
        table = one.tables[0]
        await one.until(lambda: table.cursor_row > 30 and table.scroll_offset.y > 0)
        at, view = table.cursor_row, table.scroll_offset.y
        name = one.column(0, 4)[at]
        one.figures.found = told(rated("new", 1400), *many)
        await one.refreshed()
        assert one.column(0, 4)[table.cursor_row] == name
        await one.until(lambda: (table.cursor_row, table.scroll_offset.y) == (at + 1, view))
        # What is gone leaves the cursor where it was, as far as there are rows.
        one.figures.found = told(*many[:5])
        await one.refreshed()
        assert (table.row_count, table.cursor_row) == (5, 4)
        one.figures.found = told()
        await one.refreshed()
        assert table.row_count == 0
        one.figures.found = told(*many)
        await one.refreshed()
        await one.press("down")
        assert (table.row_count, table.cursor_row) == (100, 1)

    watch(Figures(*many), play)


def test_a_row_opens_its_card() -> None:
    async def play(one: Watched) -> None:
        await one.press("enter")
        await one.until(lambda: isinstance(one.app.screen, DetailScreen))
        assert one.figures.expanded == ["m1"]
        await one.until(lambda: "All of m1." in one.seen())
        # Behind it everything goes on, and its keys are not the panes'.
        await one.press("2", "escape")
        assert one.pane == 0
        await one.press("5", "down", "enter")
        await one.until(lambda: isinstance(one.app.screen, DetailScreen))
        assert one.figures.expanded == ["m1", "b1"]
        await one.press("q")
        assert one.pane == 4
        # Bars and tiers are no items.
        await one.press("2", "enter", "3", "enter")
        await one.pilot.pause(0.05)
        assert one.pane == 2
        assert one.figures.expanded == ["m1", "b1"]

    watch(Figures(), play)


def test_an_artifact_is_all_that_its_row_says() -> None:
    async def play(one: Watched) -> None:
        await one.press("enter")
        await one.until(lambda: isinstance(one.app.screen, DetailScreen))
        assert one.figures.expanded == []
        await one.until(lambda: "says ar_1" in one.seen())

    watch(Figures(rated("ar_1", 1300, "Artifact")), play)


def test_what_was_logged_opens_its_session() -> None:
    async def play(one: Watched) -> None:
        await one.press("4", "enter")
        await one.until(lambda: isinstance(one.app.screen, DetailScreen))
        [(days, session)] = one.figures.audited
        assert session == "monday"
        assert timedelta(days=days) > datetime.now(UTC) - NOW + timedelta(days=1)
        await one.until(lambda: "planner" in one.seen())
        assert "turn t1" in one.seen()
        await one.press("escape", "down", "enter")
        await one.until(lambda: "belief b1" in one.seen())
        assert len(one.figures.audited) == 1

    watch(Figures(), play)


def test_a_key_goes_through_the_kinds() -> None:
    async def play(one: Watched) -> None:
        for kind in RATED:
            asked = len(one.figures.asked)
            await one.press("slash")
            await one.answered(asked)
            assert one.status().endswith(kind)
        assert [kinds for kinds, _ in one.figures.asked[1:]] == [(kind,) for kind in RATED]
        await one.press("slash")
        await one.until(lambda: one.status().endswith("all kinds"))

    watch(Figures(), play)


def test_of_one_kind_only_its_own_is_shown() -> None:
    async def play(one: Watched) -> None:
        assert one.column(0, 3) == ["belief"]
        assert one.column(4, 3) == ["belief"]
        assert one.column(3, 3) == ["says b1"]
        await one.press("slash")
        await one.refreshed()
        assert {kinds for kinds, _ in one.figures.asked} == {("Belief",)}

    watch(Figures(), play, kinds=("Belief",))


def test_no_key_waits_for_an_answer() -> None:
    figures = Figures()
    figures.open.clear()

    async def play(one: Watched) -> None:
        await one.until(lambda: len(figures.asked) == 1)
        await one.press("3", "r", "r", "slash")
        assert one.pane == 2
        assert one.tables[0].row_count == 0
        # One question at a time; what was chosen meanwhile is asked when its answer has come.
        assert len(figures.asked) == 1
        figures.open.set()
        await one.until(lambda: one.status().endswith("Memory"))
        assert [kinds for kinds, _ in figures.asked] == [RATED, ("Memory",)]

    watch(figures, play)


def test_an_error_is_told_and_the_next_refresh_tries_again() -> None:
    async def play(one: Watched) -> None:
        one.figures.error = GraphUnavailableError()
        await one.refreshed()
        assert "graph_unavailable: Neo4j cannot be reached." in one.status()
        assert one.tables[0].row_count == 2
        one.figures.error = NotFoundError()
        await one.press("enter")
        await one.until(lambda: "not_found" in one.status())
        assert one.pane == 0
        one.figures.error = None
        await one.refreshed()
        assert "all kinds" in one.status()

    watch(Figures(), play)


def test_it_refreshes_by_itself() -> None:
    async def play(one: Watched) -> None:
        one.figures.error = GraphUnavailableError()
        asked = len(one.figures.asked)
        await one.until(lambda: len(one.figures.asked) > asked + 2)
        one.figures.error, one.figures.found = None, told(rated("new", 1400))
        await one.until(lambda: one.column(0, 4) == ["says new"])

    watch(Figures(), play, every=0.02)


def test_a_key_shows_the_keys() -> None:
    async def play(one: Watched) -> None:
        await one.press("question_mark")
        await one.until(lambda: bool(one.app.screen.query(HelpPanel)))
        await one.until(lambda: "Next pane" in one.seen())
        await one.press("question_mark")
        await one.until(lambda: not one.app.screen.query(HelpPanel))

    watch(Figures(), play)


def test_who_quits_does_not_wait_for_the_server() -> None:
    figures = Figures()
    figures.open.clear()

    async def play(one: Watched) -> None:
        await one.until(lambda: len(figures.asked) == 1)
        await one.press("q")

    before = {*threading.enumerate()}
    watch(figures, play)
    [asking] = {*threading.enumerate()} - before
    assert asking.daemon
    figures.open.set()
    asking.join(300)
    assert not asking.is_alive()


def _refused(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["usage", "dashboard", *args])
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_it_is_refused_where_nothing_can_be_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--live requires a terminal" in _refused(capsys, "--live")
    assert "--every" in _refused(capsys, "--live", "--every", "0")


def test_without_its_library_it_says_what_to_install(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert "--live requires a terminal" in _refused(capsys, "--live", "--json")
    monkeypatch.delitem(sys.modules, dashboard.__name__)
    monkeypatch.delattr("graphmem.cli.dashboard")
    monkeypatch.setitem(sys.modules, "textual", None)
    monkeypatch.setitem(sys.modules, "textual.app", None)
    shown = _refused(capsys, "--live")
    assert "textual" in shown
    assert "pip install 'graphmem[dashboard]'" in shown


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_it_runs_in_a_terminal_and_logs_no_look(
    run: Callable[..., Any], migrated: Settings, tenant: str
) -> None:
    with GraphMem.open(settings=migrated, embedder=HashEmbedder()) as client:
        memory = client.tenant(tenant)
        ids = [str(memory.remember(text).memory_id) for text in (unlike(1), unlike(2))]
        with memory.session("monday") as session:
            session.usage.log_search("what?", tool="grep", results=ids)
            session.expand(ids[0])
        memory.usage.rate()
        command = (sys.executable, "-m", "graphmem", "usage", "dashboard", "--live")
        with Terminal(*command, "--every", "0.2") as terminal:
            terminal.until("most used", "MEDIUM", " memory")
            terminal.press("4")
            terminal.until("grep: what?")
            terminal.press("1\r")
            terminal.until("accessed 1 time before")
            # Close the card, then the dashboard: the second key is not lost in the first.
            terminal.press("qq")
            assert terminal.ended() == 0
        assert memory.expand(str(ids[0])).accesses == 1
