"""How ratings and the search log look in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from graphmem.cli.belief_views import counted
from graphmem.model import (
    Audit,
    RatedItem,
    RatingReport,
    RatingUpdate,
    SessionAudit,
    Severity,
    Tier,
    UsageCount,
    UsageDashboard,
)

SEVERITIES = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "yellow",
    Severity.INFO: "cyan",
}
MOST_IDS = 5
"""Of a finding that are shown; all of them are in the JSON."""
WIDTH = 40
"""Characters of the longest bar."""
COLOURS = {Tier.HIGH: "green", Tier.MEDIUM: "cyan", Tier.LOW: "yellow", Tier.VERY_LOW: "red"}


def settled(done: RatingReport) -> Text:
    """Return what rating the log has done."""
    if not done.sessions:
        return Text("Nothing new: no session has ended since the last run.", style="dim")
    abandoned = f", {done.abandoned} of them by nobody" if done.abandoned else ""
    return Text(
        f"{counted(done.sessions, 'session')} ended{abandoned}; "
        f"{counted(done.searches, 'search was a game', 'searches were games')}; "
        f"{counted(done.updates, 'rating')} changed."
    )


def dashboard(found: UsageDashboard) -> RenderableType:
    """Return all parts, one below the other."""
    if not (found.top or found.activity):
        return Text("Nothing was searched for yet.", style="dim")
    parts: list[tuple[str, RenderableType]] = []
    if found.top:
        parts += [("used most", _top(found.top)), ("ratings", _spread(found))]
    if found.activity:
        parts.append(("looked for last", _activity(found.activity)))
    if found.updates:
        parts.append(("rated last", _updates(found.updates)))
    if not found.top:
        parts.append(("", Text("Nothing is rated yet: `graphmem attention rate`.", style="dim")))
    lines: list[RenderableType] = []
    for title, part in parts:
        lines += ["", Text(title, style="bold"), part] if title else ["", part]
    return Group(*lines[1:])


def audit(found: Audit) -> RenderableType:
    """Return sessions, and findings, the worst first."""
    if not (found.sessions or found.findings):
        return Text("Nothing was logged in this time.", style="dim")
    parts: list[RenderableType] = []
    if found.sessions:
        parts.append(_sessions(found.sessions))
    for one in found.findings:
        line = Text(f"{one.severity} ", style=SEVERITIES[one.severity]).append(
            one.message, style="default"
        )
        parts += ["", line, Text("  " + " ".join(one.ids[:MOST_IDS]), style="dim")]
    if not found.findings:
        parts += ["", Text("Nothing was against the protocol.", style="green")]
    return Group(*parts)


def _sessions(sessions: Sequence[SessionAudit]) -> Table:
    columns = ("began", "ended", "session", "agent", "searches", "looks", "lost")
    table = Table(*columns, box=None, pad_edge=False)
    for one in sessions:
        table.add_row(
            f"{one.started_at:%Y-%m-%d %H:%M}",
            f"{one.ended_at:%H:%M}" if one.ended_at else "–",
            one.session_id,
            one.agent or "–",
            str(one.searches),
            str(one.accesses),
            "?" if one.lost is None else str(one.lost),
        )
    return table


def _top(items: Sequence[RatedItem]) -> Table:
    table = Table("elo", "tier", "games", "what", "", box=None, pad_edge=False)
    for one in items:
        tier = one.rating.tier
        table.add_row(
            f"{one.rating.elo:.0f}",
            Text(tier, style=COLOURS[tier]),
            str(one.rating.games),
            one.kind.lower(),
            named(one.text, one.id),
        )
    return table


def _spread(found: UsageDashboard) -> Group:
    tiers = Text("  ").join(
        Text(f"{tier} {n}", style=COLOURS[tier]) for tier, n in found.tiers.items()
    )
    most = max(n for _, n in found.histogram)
    bars = Table("from", "", "items", box=None, pad_edge=False)
    for least, n in found.histogram:
        bars.add_row(f"{least:.0f}", "█" * max(1, round(WIDTH * n / most)), str(n))
    return Group(tiers, bars)


def _activity(done: Sequence[UsageCount]) -> Table:
    table = Table("when", "session", "", box=None, pad_edge=False)
    for one in done:
        asked = f"{one.tool}: {one.query}" if one.tool else "opened"
        shown = Text(asked if one.tool is None else f"{asked} → ", overflow="ellipsis")
        for place, (_, item_id, text) in enumerate(one.items):
            shown.append(" · " if place else " ").append(named(text, item_id))
        table.add_row(f"{one.at:%Y-%m-%d %H:%M}", one.session_id or "–", shown)
    return table


def _updates(changes: Sequence[RatingUpdate]) -> Table:
    table = Table("when", "before", "after", "", box=None, pad_edge=False)
    for one in changes:
        style = "green" if one.after > one.before else "red"
        table.add_row(
            f"{one.at:%Y-%m-%d %H:%M}",
            f"{one.before:.0f}",
            Text(f"{one.after:.0f}", style=style),
            named(one.text, one.id),
        )
    return table


def named(text: str | None, item_id: str) -> Text:
    """Return one line of what an item says, 60 characters at most."""
    shown = " ".join(text.split()) if text else f"{item_id} (gone)"
    return Text(shown if len(shown) <= 60 else f"{shown[:59]}…")
