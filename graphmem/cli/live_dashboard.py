"""What the memory is really used for, live: panes that refresh by themselves, and keys to move.

The graph is asked in threads of its own, so that a key never waits for it. Watching is not to
change what is watched: give it a handle that logs no looks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import ClassVar, TypeVar

from rich.console import RenderableType
from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import DataTable, Footer, HelpPanel, Static, TabbedContent, TabPane, Tabs

from graphmem.cli.live_panes import PANES, Entry, PaneRow, StatsSource, opened
from graphmem.client.ratings import RATED, RatedKind
from graphmem.errors import GraphmemError
from graphmem.model import UsageDashboard
from graphmem.rules import display

T = TypeVar("T")


class WorkerResult(Message):
    """What a thread has to tell: an answer or an error, with what is to be done with it."""

    def __init__(self, then: Callable[[], None]) -> None:
        self.then = then
        super().__init__()


class PaneTable(DataTable[str | Text]):
    """A pane's list: tab goes to another pane instead of another part of the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.turn(1)", "Next pane"),
        Binding("shift+tab", "app.turn(-1)", "Pane before", show=False),
    ]


class DetailScreen(ModalScreen[None]):
    """What was opened from a row, until a key closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter,q", "dismiss", "Close")]

    def __init__(self, shown: RenderableType) -> None:
        self._shown = shown
        super().__init__()

    def compose(self) -> ComposeResult:
        """Show it, to be scrolled when it is long."""
        with VerticalScroll():
            yield Static(self._shown)
        yield Footer()


class DashboardApp(App[None]):
    """The panes, a line that says how old they are, and the keys.

    Args:
        source: asked for figures.
        every: seconds from one refresh to the next.
        limit: rows of a pane.
        kinds: that are shown; None: all of them.
    """

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    TabbedContent, ContentSwitcher, TabPane, PaneTable { height: 1fr; }
    #status { height: 1; padding: 0 1; }
    DetailScreen { align: center middle; }
    DetailScreen VerticalScroll { width: 90%; height: 80%; border: round $primary; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(str(place), f"go({place - 1})", pane.title.capitalize(), show=False)
            for place, pane in enumerate(PANES, 1)
        ),
        Binding("slash", "next_kind", "Kind"),
        Binding("r", "refresh_now", "Refresh"),
        Binding("question_mark", "keys", "Keys"),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(
        self, source: StatsSource, *, every: float, limit: int, kinds: Sequence[RatedKind] | None = None
    ) -> None:
        super().__init__()
        self._source = source
        self._every = every
        self._limit = limit
        own = tuple(kinds or RATED)
        self._choices = list(dict.fromkeys([own, *((kind,) for kind in own)]))
        self._asked: tuple[RatedKind, ...] | None = None
        """The kinds of the question that is on its way."""
        self._tables = [PaneTable(cursor_type="row", zebra_stripes=True) for _ in PANES]
        self._entries: list[list[Entry | None]] = [[] for _ in PANES]
        self._status = Static(id="status", markup=False)
        self._tabs = TabbedContent()

    def compose(self) -> ComposeResult:
        """Lay out the panes above the status and the keys."""
        with self._tabs:
            for place, (pane, table) in enumerate(zip(PANES, self._tables, strict=True)):
                with TabPane(f"{place + 1} {pane.title}", id=f"pane-{place}"):
                    yield table
        yield self._status
        yield Footer()

    def on_mount(self) -> None:
        """Ask for the first time, and again and again."""
        for pane, table in zip(PANES, self._tables, strict=True):
            table.add_columns(*pane.columns)
        self.query_one(Tabs).can_focus = False
        self._tables[0].focus()
        self._status.update("asking …")
        self.set_interval(self._every, self.action_refresh_now)
        self.action_refresh_now()

    def action_go(self, place: int) -> None:
        """Show a pane, from 0."""
        self._tabs.active = f"pane-{place}"
        self._tables[place].focus()

    def action_turn(self, steps: int) -> None:
        """Show another pane, so many further on."""
        self.action_go((self._place + steps) % len(PANES))

    def action_next_kind(self) -> None:
        """Show the next kind alone, and after the last all of them."""
        self._choices.append(self._choices.pop(0))
        self.action_refresh_now()

    def action_refresh_now(self) -> None:
        """Ask unless a question is on its way."""
        if self._asked is None:
            kinds = self._asked = self._choices[0]
            read = partial(self._source.attention, kinds=kinds, limit=self._limit)
            self._ask(read, self._answered, self._missed)

    def action_keys(self) -> None:
        """Show all keys, or hide them."""
        if self.screen.query(HelpPanel):
            self.action_hide_help_panel()
        else:
            self.action_show_help_panel()

    def on_data_table_row_selected(self) -> None:
        """Open what the row tells of: an item, or the session in which it was logged."""
        # The pane that is shown, which of two keys at once may not have the focus yet.
        table, entries = self._tables[self._place], self._entries[self._place]
        entry = entries[table.cursor_row] if entries else None
        if entry is not None:
            self._ask(partial(opened, self._source, entry), self._opened, self._failed)

    def on_worker_result(self, message: WorkerResult) -> None:
        """Take what a thread has brought."""
        message.then()

    @property
    def _place(self) -> int:
        return int(self._tabs.active.removeprefix("pane-"))

    def _ask(
        self,
        question: Callable[[], T],
        then: Callable[[T], None],
        failed: Callable[[GraphmemError], None],
    ) -> None:
        def work() -> None:
            try:
                brought = partial(then, question())
            except GraphmemError as error:
                brought = partial(failed, error)
            self.post_message(WorkerResult(brought))

        # Nobody waits for it: who quits does not wait for a server that is gone.
        threading.Thread(target=work, daemon=True).start()

    def _answered(self, found: UsageDashboard) -> None:
        kinds, self._asked = self._asked or self._choices[0], None
        for place, (pane, table) in enumerate(zip(PANES, self._tables, strict=True)):
            rows = pane.rows(found, kinds)
            self._entries[place] = [row.entry for row in rows]
            _fill(table, rows)
        shown = "all kinds" if kinds == RATED else ", ".join(kinds)
        self._status.update(f"{_now()} · every {self._every:g} s · {shown}")
        if kinds != self._choices[0]:
            self.action_refresh_now()

    def _missed(self, error: GraphmemError) -> None:
        self._asked = None
        self._failed(error)

    def _failed(self, error: GraphmemError) -> None:
        problem = display.line(f"{error.code}: {error}")
        self._status.update(Text(f"{_now()} · {problem}", style="red"))

    def _opened(self, shown: RenderableType) -> None:
        # Pressed twice before the answer came, it opens once.
        if not isinstance(self.screen, DetailScreen):
            _ = self.push_screen(DetailScreen(shown))


def _now() -> str:
    return f"{datetime.now(UTC):%H:%M:%S} UTC"


def _fill(table: PaneTable, rows: Sequence[PaneRow]) -> None:
    """Show these rows; the cursor and the view stay where they were."""
    places = {row.key: place for place, row in enumerate(rows)}
    before, place = [str(key.value) for key in table.rows], table.cursor_row
    if place < len(before):
        place = places.get(before[place], place)
    seen = table.scroll_offset
    table.clear()
    for row in rows:
        table.add_row(*row.cells, key=row.key)
    table.move_cursor(row=place, scroll=False)
    table.scroll_to(*seen, animate=False)
