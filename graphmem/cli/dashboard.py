"""The live dashboard of usage."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import ClassVar, NamedTuple, Protocol, TypeAlias, TypeVar

from rich.console import Group, RenderableType
from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import DataTable, Footer, HelpPanel, Static, TabbedContent, TabPane, Tabs

from graphmem.cli import usage_views
from graphmem.cli.console import SafeRenderable
from graphmem.cli.terminal import visible
from graphmem.cli.usage_views import COLOURS, WIDTH, named
from graphmem.client.ratings import MOST_DAYS, RATED, RatedKind
from graphmem.errors import GraphmemError
from graphmem.model import Audit, Card, RatedItem, RatingUpdate, UsageCount, UsageDashboard
from graphmem.rules import display

Entry: TypeAlias = RatedItem | UsageCount | RatingUpdate
DAY = timedelta(days=1)


class StatsSource(Protocol):
    """Where figures come from: a handle of a client."""

    def attention(self, *, kinds: Sequence[RatedKind], limit: int) -> UsageDashboard:
        """Return what is used."""
        ...

    def expand(self, item_id: str, /) -> Card:
        """Return all that is kept of one item."""
        ...

    def audit(self, *, days: float, session: str | None) -> Audit:
        """Return what was done in the sessions of a name."""
        ...


class PaneRow(NamedTuple):
    """One line of a pane."""

    key: str
    """The same at each refresh, so that the cursor stays with it."""
    cells: tuple[str | Text, ...]
    entry: Entry | None = None
    """What can be opened."""


class Pane(NamedTuple):
    """One of the lists to move between."""

    title: str
    columns: tuple[str, ...]
    told: Callable[[UsageDashboard], Iterator[PaneRow]]

    def rows(self, found: UsageDashboard, kinds: Sequence[str]) -> list[PaneRow]:
        """Return the rows of these kinds, in order: cells made visible, keys and entries as is."""
        shown = zip(self.told(found), self.told(visible(found, display.line)), strict=True)
        return [own._replace(cells=_texts(row)) for own, row in shown if _is_of(own.entry, kinds)]


def _top(found: UsageDashboard) -> Iterator[PaneRow]:
    for one in found.top:
        tier = Text(one.rating.tier, style=COLOURS[one.rating.tier])
        elo, games = f"{one.rating.elo:.0f}", str(one.rating.games)
        cells = (elo, tier, games, one.kind.lower(), named(one.text, one.id))
        yield PaneRow(f"{one.kind} {one.id}", cells, one)


def _spread(found: UsageDashboard) -> Iterator[PaneRow]:
    most = max((n for _, n in found.histogram), default=1)
    for least, n in found.histogram:
        yield PaneRow(str(least), (f"{least:.0f}", "█" * max(1, round(WIDTH * n / most)), str(n)))


def _tiers(found: UsageDashboard) -> Iterator[PaneRow]:
    items = sum(found.tiers.values()) or 1
    for tier, n in found.tiers.items():
        yield PaneRow(tier, (Text(tier, style=COLOURS[tier]), str(n), f"{100 * n / items:.0f} %"))


def _activity(found: UsageDashboard) -> Iterator[PaneRow]:
    for one in found.activity:
        asked = f"{one.tool}: {one.query}" if one.tool else "opened"
        texts = Text(" · ").join(named(text, item_id) for _, item_id, text in one.items)
        cells = (f"{one.at:%m-%d %H:%M:%S}", one.session_id or "–", Text(asked), texts)
        yield PaneRow(one.id, cells, one)


def _updates(found: UsageDashboard) -> Iterator[PaneRow]:
    for one in found.updates:
        after = Text(f"{one.after:.0f}", style="green" if one.after > one.before else "red")
        text = named(one.text, one.id)
        cells = (f"{one.at:%m-%d %H:%M:%S}", f"{one.before:.0f}", after, one.kind.lower(), text)
        yield PaneRow(f"{one.search_id} {one.kind} {one.id}", cells, one)


PANES = (
    Pane("used most", ("elo", "tier", "games", "what", "text"), _top),
    Pane("ratings", ("from", "", "items"), _spread),
    Pane("tiers", ("tier", "items", "share"), _tiers),
    Pane("looked for last", ("when", "session", "asked", "items"), _activity),
    Pane("rated last", ("when", "before", "after", "what", "text"), _updates),
)


def opened(source: StatsSource, entry: Entry) -> RenderableType:
    """Return what is to be seen of a row that is opened."""
    return SafeRenderable(_opened(source, entry))


def _opened(source: StatsSource, entry: Entry) -> RenderableType:
    shown = visible(entry)
    if not isinstance(shown, UsageCount):
        if shown.kind == "Artifact":
            return Group(Text(shown.text or shown.id), Text(shown.id, style="dim"))
        return usage_views.card(visible(source.expand(entry.id)))
    lines: list[RenderableType] = [Text(shown.query or "opened", style="bold")]
    for kind, item_id, text in shown.items:
        lines += [Text(f"{kind.lower()} {item_id}", style="dim"), Text(text or "(gone)")]
    if isinstance(entry, UsageCount) and entry.session_id is not None:
        # It has begun a day before at most, or it would be over.
        days = min((datetime.now(UTC) - entry.at) / DAY + 2, MOST_DAYS)
        found = source.audit(days=days, session=entry.session_id)
        lines += ["", usage_views.audit(visible(found))]
    return Group(*lines)


def _texts(row: PaneRow) -> tuple[Text, ...]:
    """Return the cells of a row as text; Textual reads a string as markup."""
    return tuple(one if isinstance(one, Text) else Text(one) for one in row.cells)


def _is_of(entry: Entry | None, kinds: Sequence[str]) -> bool:
    if isinstance(entry, UsageCount):
        # Of all kinds: what found nothing too, or turns, which are not rated.
        return len(kinds) > 1 or any(kind in kinds for kind, _, _ in entry.items)
    return entry is None or entry.kind in kinds


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
        self,
        source: StatsSource,
        *,
        every: float,
        limit: int,
        kinds: Sequence[RatedKind] | None = None,
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
