"""The interactive usage dashboard."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, ClassVar, TypeVar

from rich.console import Group, RenderableType
from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import DataTable, Footer, HelpPanel, Static, TabbedContent, TabPane, Tabs

from graphmem.cli.console import SafeRenderable
from graphmem.cli.terminal import visible
from graphmem.cli.views import usage as usage_views
from graphmem.cli.views.usage import PANES, Entry, Pane, PaneRow
from graphmem.client.usage import MAX_DAYS, RATED, RatedKind
from graphmem.errors import GraphmemError
from graphmem.rules import display
from graphmem.usage import UsageCount, UsageDashboard

if TYPE_CHECKING:
    from graphmem import Handle

DAY = timedelta(days=1)

T = TypeVar("T")


def rows_of(pane: Pane, found: UsageDashboard, kinds: Sequence[str]) -> list[PaneRow]:
    """Return the rows of these kinds, in order; only the cells are escaped for display."""
    shown = zip(pane.make_rows(found), pane.make_rows(visible(found, display.line)), strict=True)
    return [own._replace(cells=_texts(row)) for own, row in shown if _is_of(own.entry, kinds)]


def opened(source: Handle, entry: Entry) -> RenderableType:
    """Return the details of an entry."""
    return SafeRenderable(_opened(source, entry))


def _opened(source: Handle, entry: Entry) -> RenderableType:
    shown = visible(entry)
    if not isinstance(shown, UsageCount):
        if shown.kind == "Artifact":
            return Group(Text(shown.text or shown.id), Text(shown.id, style="dim"))
        return usage_views.card(visible(source.expand(entry.id)))
    lines: list[RenderableType] = [Text(shown.query or "opened", style="bold")]
    for kind, item_id, text in shown.items:
        lines += [Text(f"{kind.lower()} {item_id}", style="dim"), Text(text or "(removed)")]
    if isinstance(entry, UsageCount) and entry.session_id is not None:
        # The session started at most a day earlier; otherwise it would have ended.
        days = min((datetime.now(UTC) - entry.at) / DAY + 2, MAX_DAYS)
        found = source.usage.audit(days=days, session_id=entry.session_id)
        lines += ["", usage_views.audit(visible(found))]
    return Group(*lines)


def _texts(row: PaneRow) -> tuple[Text, ...]:
    """Return the cells of a row as text; Textual reads a string as markup."""
    return tuple(cell if isinstance(cell, Text) else Text(cell) for cell in row.cells)


def _is_of(entry: Entry | None, kinds: Sequence[str]) -> bool:
    if isinstance(entry, UsageCount):
        # With all kinds, also show searches without results and searches of turns.
        return len(kinds) > 1 or any(kind in kinds for kind, _, _ in entry.items)
    return entry is None or entry.kind in kinds


class WorkerResult(Message):
    """The result or error of a worker thread, bound to its callback."""

    def __init__(self, then: Callable[[], None]) -> None:
        self.then = then
        super().__init__()


class PaneTable(DataTable[str | Text]):
    """The table of a pane; tab switches panes instead of moving the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.turn(1)", "Next pane"),
        Binding("shift+tab", "app.turn(-1)", "Previous pane", show=False),
    ]


class DetailScreen(ModalScreen[None]):
    """Modal screen with the details of a row."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter,q", "dismiss", "Close")]

    def __init__(self, shown: RenderableType) -> None:
        self._shown = shown
        super().__init__()

    def compose(self) -> ComposeResult:
        """Lay out the scrollable details."""
        with VerticalScroll():
            yield Static(self._shown)
        yield Footer()


class DashboardApp(App[None]):
    """The application: panes, a status line with the time of the last refresh, and the keys.

    Args:
        source: source of the figures.
        every: seconds between refreshes.
        limit: maximum number of rows per pane.
        kinds: kinds to show; None for all of them.
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
        self, source: Handle, *, every: float, limit: int, kinds: Sequence[RatedKind] | None = None
    ) -> None:
        super().__init__()
        self._source = source
        self._every = every
        self._limit = limit
        own = tuple(kinds or RATED)
        self._choices = list(dict.fromkeys([own, *((kind,) for kind in own)]))
        self._asked: tuple[RatedKind, ...] | None = None
        """Kinds of the pending request; None if no request is pending."""
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
        """Request the figures and start the refresh timer."""
        for pane, table in zip(PANES, self._tables, strict=True):
            table.add_columns(*pane.columns)
        self.query_one(Tabs).can_focus = False
        self._tables[0].focus()
        self._status.update("loading …")
        self.set_interval(self._every, self.action_refresh_now)
        self.action_refresh_now()

    def action_go(self, place: int) -> None:
        """Show the pane at a 0-based position."""
        self._tabs.active = f"pane-{place}"
        self._tables[place].focus()

    def action_turn(self, steps: int) -> None:
        """Show the pane that is `steps` positions further."""
        self.action_go((self._place + steps) % len(PANES))

    def action_next_kind(self) -> None:
        """Show only the next kind; after the last kind, show all."""
        self._choices.append(self._choices.pop(0))
        self.action_refresh_now()

    def action_refresh_now(self) -> None:
        """Request the figures unless a request is pending."""
        if self._asked is None:
            kinds = self._asked = self._choices[0]
            read = partial(self._source.usage.dashboard, kinds=kinds, limit=self._limit)
            self._ask(read, self._answered, self._missed)

    def action_keys(self) -> None:
        """Toggle the help panel."""
        if self.screen.query(HelpPanel):
            self.action_hide_help_panel()
        else:
            self.action_show_help_panel()

    def on_data_table_row_selected(self) -> None:
        """Open the item of the selected row, or the session that logged it."""
        # Use the visible pane: after two quick keys it may not have the focus yet.
        table, entries = self._tables[self._place], self._entries[self._place]
        entry = entries[table.cursor_row] if entries else None
        if entry is not None:
            self._ask(partial(opened, self._source, entry), self._opened, self._failed)

    def on_worker_result(self, message: WorkerResult) -> None:
        """Run the callback of a worker thread."""
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
                callback = partial(then, question())
            except GraphmemError as error:
                callback = partial(failed, error)
            self.post_message(WorkerResult(callback))

        # A daemon thread: quitting must not wait for an unreachable server.
        threading.Thread(target=work, daemon=True).start()

    def _answered(self, found: UsageDashboard) -> None:
        kinds, self._asked = self._asked or self._choices[0], None
        for place, (pane, table) in enumerate(zip(PANES, self._tables, strict=True)):
            rows = rows_of(pane, found, kinds)
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
        # If the key is pressed twice before the result arrives, open one screen.
        if not isinstance(self.screen, DetailScreen):
            _ = self.push_screen(DetailScreen(shown))


def _now() -> str:
    return f"{datetime.now(UTC):%H:%M:%S} UTC"


def _fill(table: PaneTable, rows: Sequence[PaneRow]) -> None:
    """Replace the rows of a table; keep the cursor and the scroll position."""
    places = {row.key: place for place, row in enumerate(rows)}
    before, place = [str(key.value) for key in table.rows], table.cursor_row
    if place < len(before):
        place = places.get(before[place], place)
    offset = table.scroll_offset
    table.clear()
    for row in rows:
        table.add_row(*row.cells, key=row.key)
    table.move_cursor(row=place, scroll=False)
    table.scroll_to(*offset, animate=False)
