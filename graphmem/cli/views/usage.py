"""Terminal views of cards, ratings, audits, packs and pruning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TypeAlias

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from graphmem import model, upkeep, usage
from graphmem.cli.console import counted, shortened, table
from graphmem.cli.views.episode import LONGEST

Cells: TypeAlias = tuple[str | Text, ...]
_Section: TypeAlias = tuple[str, tuple[str, ...], Iterator[Cells]]
"""Title, columns and rows."""

SEVERITIES = {
    usage.Severity.ERROR: "bold red",
    usage.Severity.WARNING: "yellow",
    usage.Severity.INFO: "cyan",
}
MAX_IDS = 5
"""Number of ids shown per finding; the JSON contains all of them."""
WIDTH = 40
"""Length of the longest bar, in characters."""
COLOURS = {
    model.Tier.HIGH: "green",
    model.Tier.MEDIUM: "cyan",
    model.Tier.LOW: "yellow",
    model.Tier.VERY_LOW: "red",
}

RATED = ("elo", "tier", "games", "kind", "text")

MOST = 20
"""Items shown per action and per run; the JSON contains all of them."""
DONE = {upkeep.PruneAction.ARCHIVE: "archived", upkeep.PruneAction.COMPRESS: "compressed"}
SHAPES = {
    usage.DetailLevel.WHOLE: "whole",
    usage.DetailLevel.SUMMARY: "summarised",
    usage.DetailLevel.POINTER: "one line",
    usage.DetailLevel.LEFT_OUT: "left out",
}


def logged(found: Mapping[str, int]) -> str:
    """Return whether an entry was logged."""
    if found["logged"]:
        return "Logged."
    return "Nothing was logged: the search log is off, or its scope or tenant was erased."


def rated(done: usage.RatingReport) -> Text:
    """Return the summary of a rating run."""
    if not done.sessions:
        return Text("Nothing new: no session has ended since the last run.", style="dim")
    abandoned = f", {done.abandoned} of them by timeout" if done.abandoned else ""
    return Text(
        f"{counted(done.sessions, 'session')} ended{abandoned}; "
        f"{counted(done.searches, 'search was rated', 'searches were rated')}; "
        f"{counted(done.updates, 'rating')} changed."
    )


def goals(found: usage.UsageGoals) -> Group:
    """Return the goals as a table, and the reasons of those that are not reached."""
    made = table("goal", "wanted", "value", "reached", "curve", whole=("wanted", "value"))
    for goal in found.goals:
        reached = {True: "yes", False: "no", None: "unknown"}[goal.reached]
        curve = " ".join(_goal_value(value) for _, value in goal.curve)
        value = "" if goal.value is None else _goal_value(goal.value)
        made.add_row(goal.name, goal.wanted, value, reached, curve)
    reasons = [f"{goal.name}: {goal.reason}." for goal in found.goals if goal.reason]
    return Group(made, *(Text(line, style="dim") for line in dict.fromkeys(reasons)))


def _goal_value(value: float) -> str:
    return f"{value:.1%}" if value <= 1 else f"{value:,.0f}"


def _rated_rows(items: Sequence[usage.RatedItem]) -> Iterator[Cells]:
    for item in items:
        tier = Text(item.rating.tier, style=COLOURS[item.rating.tier])
        elo, games = f"{item.rating.elo:.0f}", str(item.rating.games)
        yield elo, tier, games, item.kind.lower(), named(item.text, item.id)


def _histogram(found: usage.UsageDashboard) -> Iterator[Cells]:
    most = max((n for _, n in found.histogram), default=1)
    for low, n in found.histogram:
        yield f"{low:.0f}", "█" * max(1, round(WIDTH * n / most)), str(n)


def _tiers(found: usage.UsageDashboard) -> Iterator[Cells]:
    items = sum(found.tiers.values()) or 1
    for tier, n in found.tiers.items():
        yield Text(tier, style=COLOURS[tier]), str(n), f"{100 * n / items:.0f} %"


def _activity(found: usage.UsageDashboard) -> Iterator[Cells]:
    for use in found.activity:
        query = f"{use.tool}: {use.query}" if use.tool else "opened"
        texts = Text(" · ").join(named(text, item_id) for _, item_id, text in use.items)
        yield f"{use.at:%Y-%m-%d %H:%M:%S}", use.session_id or "–", Text(query), texts


def _updates(found: usage.UsageDashboard) -> Iterator[Cells]:
    for update in found.updates:
        style = "green" if update.after > update.before else "red"
        yield (
            f"{update.at:%Y-%m-%d %H:%M:%S}",
            f"{update.before:.0f}",
            Text(f"{update.after:.0f}", style=style),
            update.kind.lower(),
            named(update.text, update.id),
        )


def dashboard(found: usage.UsageDashboard) -> RenderableType:
    """Return all sections of the dashboard, one below the other."""
    if not (found.top or found.activity):
        return Text("No searches yet.", style="dim")
    rated: tuple[_Section, ...] = (
        ("most used", RATED, _rated_rows(found.top)),
        ("ratings", ("from", "", "items"), _histogram(found)),
        ("tiers", ("tier", "items", "share"), _tiers(found)),
    )
    recent: tuple[_Section, ...] = (
        ("recent activity", ("when", "session", "query", "items"), _activity(found)),
        ("recent ratings", ("when", "before", "after", "kind", "text"), _updates(found)),
    )
    lines: list[RenderableType] = []
    for title, columns, made in (*(rated if found.top else ()), *recent):
        if rows := list(made):
            lines += ["", Text(title, style="bold"), _rows_table(columns, rows)]
    if not found.top:
        lines += ["", Text("Nothing is rated yet; run `graphmem usage rate`.", style="dim")]
    return Group(*lines[1:])


def ratings(items: Sequence[usage.RatedItem]) -> Table:
    """Return rated items as a table."""
    return _rows_table(RATED, _rated_rows(items))


def _rows_table(columns: Sequence[str], rows: Iterable[Cells]) -> Table:
    made = table(*columns, whole=("when",))
    for row in rows:
        made.add_row(*row)
    return made


def audit(found: usage.Audit) -> RenderableType:
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
        parts += ["", line, Text("  " + " ".join(finding.ids[:MAX_IDS]), style="dim")]
    if not found.findings:
        parts += ["", Text("No protocol violations.", style="green")]
    return Group(*parts)


def _sessions(sessions: Sequence[usage.SessionAudit]) -> Table:
    columns = ("started", "ended", "session", "agent", "searches", "accesses", "lost")
    rows = table(*columns, whole=("started", "ended"))
    for session in sessions:
        rows.add_row(
            f"{session.started_at:%Y-%m-%d %H:%M}",
            f"{session.ended_at:%H:%M}" if session.ended_at else "–",
            session.session_id,
            session.agent or "–",
            str(session.searches),
            str(session.accesses),
            "?" if session.lost is None else str(session.lost),
        )
    return rows


def named(text: str | None, item_id: str) -> Text:
    """Return the text of an item on one line of at most 60 characters."""
    return Text(shortened(text or f"{item_id} (removed)", 60))


def pruned(done: upkeep.PruneReport) -> RenderableType:
    """Return the items that were or would be pruned."""
    totals = (
        f"{counted(done.rated, 'rated item')} examined, {done.kept} LOW or VERY_LOW stay for now"
    )
    if not done.items:
        return Text(f"Nothing to prune: {totals}.", style="dim")
    verb = "Pruned" if done.applied else "Would be pruned"
    fates = Counter(item.action for item in done.items)
    summary = ", ".join(f"{fates[fate]} {word}" for fate, word in DONE.items() if fates[fate])
    parts: list[RenderableType] = [Text(f"{verb}: {summary}."), Text(totals, style="dim")]
    for fate, word in DONE.items():
        items = [item for item in done.items if item.action is fate]
        if items:
            parts.append(_items(items, word))
    if done.applied:
        parts.append(Text(f"Restore with `graphmem usage restore-pruned {done.run_id}`."))
    else:
        parts.append(Text("Nothing was written; use --apply.", style="dim"))
    return Group(*parts)


def manifest(lines: tuple[upkeep.PruneRecord, ...]) -> RenderableType:
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
            shown = Text(f"  {DONE[line.action]:<10} ", style="yellow" if line.away else "dim")
            shown.append(shortened(line.text, LONGEST), style="default" if line.away else "dim")
            parts.append(shown.append(f"   {line.kind} {line.id}", style="dim"))
        parts += _more(len(items))
    return Group(*parts)


def restored(done: upkeep.PruneRestoreReport) -> Text:
    """Return the number of restored items."""
    if not done.items:
        return Text("All items are already restored.", style="dim")
    return Text(f"Restored: {counted(done.items, 'item')}.")


def rolled_up(done: usage.RollUpReport) -> str:
    """Return the number of entries that were or would be replaced by counts."""
    if not (done.searches or done.accesses or done.artifacts):
        return "Nothing to roll up: no rated or unratable search is old enough."
    searches = counted(done.searches, "search", "searches")
    text = f"{searches} with {done.results:,} results, of {counted(done.sessions, 'session')}"
    if done.accesses:
        text += f", and {counted(done.accesses, 'access', 'accesses')} of files"
    if done.applied:
        gone = f" Files forgotten: {done.artifacts:,}." if done.artifacts else ""
        return f"{text}: replaced by their counts.{gone}"
    return f"{text} would be replaced by counts; use --apply."


def pack(found: usage.Pack, text: str, output: Path | None) -> RenderableType:
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


def _items(items: list[upkeep.PruneCandidate], word: str) -> RenderableType:
    rows = Table(title=word, title_justify="left", box=None, pad_edge=False)
    rows.add_column("rating", justify="right")
    rows.add_column("tier")
    rows.add_column("item", max_width=60)
    rows.add_column("reason", max_width=50)
    rows.add_column("id", style="dim", overflow="fold")
    for item in items[:MOST]:
        tier = Text(item.tier, style=COLOURS[item.tier])
        rows.add_row(f"{item.elo:.0f}", tier, shortened(item.text, LONGEST), item.reason, item.id)
    return Group(rows, *_more(len(items)))


def _more(count: int) -> list[Text]:
    return [Text(f"  and {count - MOST} more", style="dim")] if count > MOST else []


def _run(line: upkeep.PruneRecord) -> str:
    return line.run_id
