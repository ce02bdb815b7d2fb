"""Terminal views of cards, stale memories, ratings, audits, packs and pruning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from graphmem.cli import belief_views, views
from graphmem.cli.belief_views import counted, number, sign
from graphmem.cli.views import day
from graphmem.model import (
    Audit,
    Belief,
    BeliefEvent,
    Card,
    ChainNeighbor,
    DetailLevel,
    Episode,
    Memory,
    Pack,
    PruneAction,
    PruneCandidate,
    PruneRecord,
    PruneReport,
    PruneRestoreReport,
    RatedItem,
    RatingReport,
    RatingUpdate,
    SessionAudit,
    Severity,
    StaleMemory,
    StalePage,
    Tier,
    Turn,
    UsageCount,
    UsageDashboard,
)


def card(found: Card) -> Group:
    """Return the card of one item."""
    parts: list[RenderableType] = list(_head(found))
    if isinstance(found.item, Memory):
        parts += ["", views.history(found.events)]
    elif found.events:
        parts += ["", _evidence(found)]
    if found.turns:
        parts += ["", *_turns(found)]
    around = list(_around(found))
    if around:
        parts += ["", *around]
    return Group(*parts, "", _accesses(found))


def _head(found: Card) -> Iterator[RenderableType]:
    item = found.item
    if isinstance(item, Memory):
        yield views.memory(item)
    elif isinstance(item, Belief):
        yield belief_views.belief(item)
    elif isinstance(item, Turn):
        yield Text(f"turn {item.position} of {item.episode_id}", style="dim")
    else:
        yield from _episode(item)


def _episode(item: Episode) -> Iterator[Text]:
    name = f"session {item.session_id}" if item.session_id else "episode"
    yield Text(f"{name} of {day(item.occurred_at)}", style="bold")
    yield Text(f"{item.id}   {counted(item.turns, 'turn')}", style="dim")
    for text in (item.summary, item.content, item.gist):
        if text:
            yield Text(text)
    if item.compressed:
        yield Text(f"compressed; `graphmem memory restore-episode {item.id}`", style="yellow")
    if item.entities:
        yield Text(f"about {', '.join(item.entities)}", style="dim")


def _evidence(found: Card) -> Table:
    """Return the evidence for a belief, one event per row."""
    table = Table("when", "", "event", "source", "c", "s", "id", "note", box=None, pad_edge=False)
    for event in found.events:
        if isinstance(event, BeliefEvent):
            table.add_row(
                f"{event.occurred_at:%Y-%m-%d %H:%M}",
                sign(event.kind) if event.kind else "",
                event.type,
                event.source_type or event.source or "",
                "" if event.confidence is None else number(event.confidence),
                "" if event.strength is None else number(event.strength),
                event.id,
                str(event.payload.get("note") or ""),
            )
    return table


def _turns(found: Card) -> Iterator[Text]:
    """Yield turns in order; quoted turns and the item itself are marked."""
    item, turns = found.item, list(found.turns)
    quoted = isinstance(item, Memory | Belief)
    if isinstance(item, Turn):
        turns = sorted([*turns, item], key=lambda turn: turn.position)
    for turn in turns:
        line = Text("» " if quoted or turn == item else "  ", style="blue")
        line.append(f"{turn.name or turn.role}: ", style="bold")
        line.append(turn.text, style="bold" if turn == item else "default")
        yield line.append(f"   {day(turn.occurred_at)}   {turn.id}", style="dim")
    if isinstance(item, Episode) and item.turns > len(turns):
        yield Text(f"  {counted(item.turns - len(turns), 'more turn')}", style="dim")


def _around(found: Card) -> Iterator[Text]:
    """Yield the neighbours in the chain, the asserted beliefs and the episodes."""
    for word, others in (
        ("replaces", found.supersedes),
        ("replaced by", found.superseded_by),
    ):
        for other in others:
            yield _neighbour(word, other)
    for belief in found.claims:
        line = Text("asserts ").append_text(belief_views.headline(belief))
        yield line.append(f"   {belief.id}", style="dim")
    lost = found.item.lost_ids if isinstance(found.item, Memory) else None
    if lost:
        yield Text(f"beliefs no longer held: {', '.join(lost)}", style="yellow")
    for episode in found.episodes:
        name = f"session {episode.session_id}" if episode.session_id else "episode"
        yield Text(f"in {name} of {day(episode.occurred_at)}, {episode.id}", style="dim")


def _neighbour(word: str, other: ChainNeighbor) -> Text:
    back = "" if other.in_force else "; the value came back"
    return Text(
        f"{word} {other.text} ({other.id}) on {day(other.occurred_at)}{back}",
        style="yellow" if other.in_force else "dim",
    )


def _accesses(found: Card) -> Text:
    if found.last_access_at is None:
        return Text("not accessed before", style="dim")
    times = counted(found.accesses, "time")
    return Text(f"accessed {times} before, last {day(found.last_access_at)}", style="dim")


def stale(found: StalePage) -> Group:
    """Return stale memories, two lines each, and the cursor of the next page."""
    lines = [_stale_lines(item) for item in found.memories]
    if not lines:
        lines.append(Text("No memory is that old.", style="dim"))
    return Group(*lines, *views.more(found.next_cursor))


def _stale_lines(found: StaleMemory) -> Text:
    memory = found.memory
    line = Text("● ", style="green").append(memory.content, style="default")
    ago = counted(int(found.days), "day")
    line.append(f"   last stated {day(memory.last_seen_at)}, {ago} ago", style="dim")
    line.append(f"\n  {memory.id}   trace {number(found.trace)}", style="dim")
    if memory.lost_ids:
        lost = ", ".join(memory.lost_ids)
        line.append(f"\n  beliefs no longer held: {lost}", style="yellow")
    return line


SEVERITIES = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "yellow",
    Severity.INFO: "cyan",
}
MOST_IDS = 5
"""Number of ids shown per finding; the JSON contains all of them."""
WIDTH = 40
"""Length of the longest bar, in characters."""
COLOURS = {Tier.HIGH: "green", Tier.MEDIUM: "cyan", Tier.LOW: "yellow", Tier.VERY_LOW: "red"}


def settled(done: RatingReport) -> Text:
    """Return the summary of a rating run."""
    if not done.sessions:
        return Text("Nothing new: no session has ended since the last run.", style="dim")
    abandoned = f", {done.abandoned} of them by timeout" if done.abandoned else ""
    return Text(
        f"{counted(done.sessions, 'session')} ended{abandoned}; "
        f"{counted(done.searches, 'search was rated', 'searches were rated')}; "
        f"{counted(done.updates, 'rating')} changed."
    )


def dashboard(found: UsageDashboard) -> RenderableType:
    """Return all sections of the dashboard, one below the other."""
    if not (found.top or found.activity):
        return Text("No searches yet.", style="dim")
    parts: list[tuple[str, RenderableType]] = []
    if found.top:
        parts += [("most used", _top(found.top)), ("ratings", _spread(found))]
    if found.activity:
        parts.append(("recent activity", _activity(found.activity)))
    if found.updates:
        parts.append(("recent ratings", _updates(found.updates)))
    if not found.top:
        parts.append(
            ("", Text("Nothing is rated yet; run `graphmem attention rate`.", style="dim"))
        )
    lines: list[RenderableType] = []
    for title, part in parts:
        lines += ["", Text(title, style="bold"), part] if title else ["", part]
    return Group(*lines[1:])


def audit(found: Audit) -> RenderableType:
    """Return the sessions and the findings, most severe first."""
    if not (found.sessions or found.findings):
        return Text("Nothing was logged in this period.", style="dim")
    parts: list[RenderableType] = []
    if found.sessions:
        parts.append(_sessions(found.sessions))
    for finding in found.findings:
        line = Text(f"{finding.severity} ", style=SEVERITIES[finding.severity]).append(
            finding.message, style="default"
        )
        parts += ["", line, Text("  " + " ".join(finding.ids[:MOST_IDS]), style="dim")]
    if not found.findings:
        parts += ["", Text("No protocol violations.", style="green")]
    return Group(*parts)


def _sessions(sessions: Sequence[SessionAudit]) -> Table:
    columns = ("started", "ended", "session", "agent", "searches", "accesses", "lost")
    table = Table(*columns, box=None, pad_edge=False)
    for session in sessions:
        table.add_row(
            f"{session.started_at:%Y-%m-%d %H:%M}",
            f"{session.ended_at:%H:%M}" if session.ended_at else "–",
            session.session_id,
            session.agent or "–",
            str(session.searches),
            str(session.accesses),
            "?" if session.lost is None else str(session.lost),
        )
    return table


def _top(items: Sequence[RatedItem]) -> Table:
    table = Table("elo", "tier", "games", "kind", "", box=None, pad_edge=False)
    for item in items:
        tier = item.rating.tier
        table.add_row(
            f"{item.rating.elo:.0f}",
            Text(tier, style=COLOURS[tier]),
            str(item.rating.games),
            item.kind.lower(),
            named(item.text, item.id),
        )
    return table


def _spread(found: UsageDashboard) -> Group:
    tiers = Text("  ").join(
        Text(f"{tier} {n}", style=COLOURS[tier]) for tier, n in found.tiers.items()
    )
    most = max(n for _, n in found.histogram)
    bars = Table("from", "", "items", box=None, pad_edge=False)
    for low, n in found.histogram:
        bars.add_row(f"{low:.0f}", "█" * max(1, round(WIDTH * n / most)), str(n))
    return Group(tiers, bars)


def _activity(done: Sequence[UsageCount]) -> Table:
    table = Table("when", "session", "", box=None, pad_edge=False)
    for use in done:
        query = f"{use.tool}: {use.query}" if use.tool else "opened"
        shown = Text(query if use.tool is None else f"{query} → ", overflow="ellipsis")
        for place, (_, item_id, text) in enumerate(use.items):
            shown.append(" · " if place else " ").append(named(text, item_id))
        table.add_row(f"{use.at:%Y-%m-%d %H:%M}", use.session_id or "–", shown)
    return table


def _updates(changes: Sequence[RatingUpdate]) -> Table:
    table = Table("when", "before", "after", "", box=None, pad_edge=False)
    for update in changes:
        style = "green" if update.after > update.before else "red"
        table.add_row(
            f"{update.at:%Y-%m-%d %H:%M}",
            f"{update.before:.0f}",
            Text(f"{update.after:.0f}", style=style),
            named(update.text, update.id),
        )
    return table


def named(text: str | None, item_id: str) -> Text:
    """Return the text of an item on one line of at most 60 characters."""
    shown = " ".join(text.split()) if text else f"{item_id} (removed)"
    return Text(shown if len(shown) <= 60 else f"{shown[:59]}…")


MOST = 20
"""Items shown per action and per run; the JSON contains all of them."""
DONE = {PruneAction.ARCHIVE: "archived", PruneAction.COMPRESS: "compressed"}
SHAPES = {
    DetailLevel.WHOLE: "whole",
    DetailLevel.SUMMARY: "summarised",
    DetailLevel.POINTER: "one line",
    DetailLevel.LEFT_OUT: "left out",
}


def report(done: PruneReport) -> RenderableType:
    """Return the items that were or would be pruned."""
    totals = (
        f"{counted(done.rated, 'rated item')} examined, {done.kept} LOW or VERY_LOW stay for now"
    )
    if not done.items:
        return Text(f"Nothing to prune: {totals}.", style="dim")
    verb = "Pruned" if done.applied else "Would be pruned"
    fates = Counter(item.fate for item in done.items)
    summary = ", ".join(f"{fates[fate]} {word}" for fate, word in DONE.items() if fates[fate])
    parts: list[RenderableType] = [Text(f"{verb}: {summary}."), Text(totals, style="dim")]
    for fate, word in DONE.items():
        items = [item for item in done.items if item.fate is fate]
        if items:
            parts.append(_items(items, word))
    if done.applied:
        parts.append(Text(f"Restore with `graphmem attention restore {done.run_id}`."))
    else:
        parts.append(Text("Nothing was written; use --apply.", style="dim"))
    return Group(*parts)


def manifest(lines: tuple[PruneRecord, ...]) -> RenderableType:
    """Return all pruned items, grouped by run."""
    if not lines:
        return Text("Nothing has been pruned.", style="dim")
    parts: list[RenderableType] = []
    for run, found in groupby(sorted(lines, key=lambda line: (line.at, line.run_id)), _run):
        items = list(found)
        away = sum(line.away for line in items)
        head = Text(run, style="bold").append(
            f"  {items[0].at:%Y-%m-%d %H:%M}, {counted(len(items), 'item')}, {away} still pruned",
            style="dim",
        )
        parts.append(head)
        for line in items[:MOST]:
            shown = Text(f"  {DONE[line.fate]:<10} ", style="yellow" if line.away else "dim")
            shown.append(_short(line.text), style="default" if line.away else "dim")
            parts.append(shown.append(f"   {line.kind} {line.id}", style="dim"))
        parts += _more(len(items))
    return Group(*parts)


def restored(done: PruneRestoreReport) -> Text:
    """Return the number of restored items."""
    if not done.items:
        return Text("All items are already restored.", style="dim")
    return Text(f"Restored: {counted(done.items, 'item')}.")


def pack(found: Pack, text: str, output: Path | None) -> RenderableType:
    """Return the text of a pack, or its file, and the tokens that it saves."""
    if not text:
        return Text("Nothing to pack.", style="dim")
    shapes = Counter(item.how for item in found.items)
    summary = ", ".join(f"{shapes[how]} {word}" for how, word in SHAPES.items() if shapes[how])
    line = Text(f"{found.tokens:,} of {found.budget:,} tokens ({found.counted_by}): {summary}. ")
    line.append(f"The full text has {found.whole_tokens:,}: {found.saved_share:.0%} saved.")
    if found.overflow:
        line.append(f" {found.overflow:,} over the budget: HIGH items are whole.", style="yellow")
    if output is None:
        return Group(Text(text), line)
    return Group(Text(f"Written to {output}."), line)


def _items(items: list[PruneCandidate], word: str) -> RenderableType:
    table = Table(title=word, title_justify="left", box=None, pad_edge=False)
    table.add_column("rating", justify="right")
    table.add_column("tier")
    table.add_column("item", max_width=60)
    table.add_column("reason", max_width=50)
    table.add_column("id", style="dim", overflow="fold")
    for item in items[:MOST]:
        tier = Text(item.tier, style=COLOURS[item.tier])
        table.add_row(f"{item.elo:.0f}", tier, _short(item.text), item.reason, item.id)
    return Group(table, *_more(len(items)))


def _more(count: int) -> list[Text]:
    return [Text(f"  and {count - MOST} more", style="dim")] if count > MOST else []


def _run(line: PruneRecord) -> str:
    return line.run_id


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:79]}…"
