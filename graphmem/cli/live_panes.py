"""The panes of the live dashboard: their lines, and what a line opens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Protocol, TypeAlias

from rich.console import Group, RenderableType
from rich.text import Text

from graphmem.cli import attention_views, rating_views
from graphmem.cli.console import SafeRenderable
from graphmem.cli.rating_views import COLOURS, WIDTH, named
from graphmem.cli.terminal import visible
from graphmem.client.ratings import MOST_DAYS, RatedKind
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
        return attention_views.card(visible(source.expand(entry.id)))
    lines: list[RenderableType] = [Text(shown.query or "opened", style="bold")]
    for kind, item_id, text in shown.items:
        lines += [Text(f"{kind.lower()} {item_id}", style="dim"), Text(text or "(gone)")]
    if isinstance(entry, UsageCount) and entry.session_id is not None:
        # It has begun a day before at most, or it would be over.
        days = min((datetime.now(UTC) - entry.at) / DAY + 2, MOST_DAYS)
        found = source.audit(days=days, session=entry.session_id)
        lines += ["", rating_views.audit(visible(found))]
    return Group(*lines)


def _texts(row: PaneRow) -> tuple[Text, ...]:
    """Return the cells of a row as text; Textual reads a string as markup."""
    return tuple(one if isinstance(one, Text) else Text(one) for one in row.cells)


def _is_of(entry: Entry | None, kinds: Sequence[str]) -> bool:
    if isinstance(entry, UsageCount):
        # Of all kinds: what found nothing too, or turns, which are not rated.
        return len(kinds) > 1 or any(kind in kinds for kind, _, _ in entry.items)
    return entry is None or entry.kind in kinds
