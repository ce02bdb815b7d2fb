"""How pruning and packs look in a terminal."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from graphmem.cli.belief_views import counted
from graphmem.cli.rating_views import COLOURS
from graphmem.model import (
    DetailLevel,
    Pack,
    PruneAction,
    PruneCandidate,
    PruneRecord,
    PruneReport,
    PruneRestoreReport,
)

MOST = 20
"""Items of each fate, and lines of each run, that are shown; all of them are in the JSON."""
DONE = {PruneAction.ARCHIVE: "archived", PruneAction.COMPRESS: "compressed"}
SHAPES = {
    DetailLevel.WHOLE: "whole",
    DetailLevel.SUMMARY: "summarised",
    DetailLevel.POINTER: "one line",
    DetailLevel.LEFT_OUT: "left out",
}


def report(done: PruneReport) -> RenderableType:
    """Return what was pruned, or would be."""
    seen = (
        f"{counted(done.rated, 'rated item')} looked at, {done.kept} LOW or VERY_LOW stay for now"
    )
    if not done.items:
        return Text(f"Nothing is to be pruned: {seen}.", style="dim")
    verb = "PruneRecord" if done.applied else "Would be pruned"
    fates = Counter(item.fate for item in done.items)
    told = ", ".join(f"{fates[fate]} {word}" for fate, word in DONE.items() if fates[fate])
    parts: list[RenderableType] = [Text(f"{verb}: {told}."), Text(seen, style="dim")]
    for fate, word in DONE.items():
        items = [item for item in done.items if item.fate is fate]
        if items:
            parts.append(_items(items, word))
    if done.applied:
        parts.append(Text(f"Back with `graphmem attention restore {done.run_id}`."))
    else:
        parts.append(Text("Nothing was written: `--apply` does it.", style="dim"))
    return Group(*parts)


def manifest(lines: tuple[PruneRecord, ...]) -> RenderableType:
    """Return what pruning ever did, run by run."""
    if not lines:
        return Text("Nothing was ever pruned here.", style="dim")
    parts: list[RenderableType] = []
    for run, found in groupby(sorted(lines, key=lambda line: (line.at, line.run_id)), _run):
        items = list(found)
        away = sum(line.away for line in items)
        head = Text(run, style="bold").append(
            f"  {items[0].at:%Y-%m-%d %H:%M}, {counted(len(items), 'item')}, {away} still away",
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
    """Return what was brought back."""
    if not done.items:
        return Text("All of it is back already.", style="dim")
    return Text(f"Brought back: {counted(done.items, 'item')}.")


def pack(found: Pack, text: str, output: Path | None) -> RenderableType:
    """Return the text of a pack, or where it was written, and what it saves."""
    if not text:
        return Text("There is nothing to pack.", style="dim")
    shapes = Counter(item.how for item in found.items)
    told = ", ".join(f"{shapes[how]} {word}" for how, word in SHAPES.items() if shapes[how])
    line = Text(f"{found.tokens:,} of {found.budget:,} tokens ({found.counted_by}): {told}. ")
    line.append(f"Whole it would be {found.whole_tokens:,}: {found.saved_share:.0%} saved.")
    if found.overflow:
        line.append(f" {found.overflow:,} over the budget: HIGH items are whole.", style="yellow")
    if output is None:
        return Group(Text(text), line)
    return Group(Text(f"Written to {output}."), line)


def _items(items: list[PruneCandidate], word: str) -> RenderableType:
    table = Table(title=word, title_justify="left", box=None, pad_edge=False)
    table.add_column("rating", justify="right")
    table.add_column("tier")
    table.add_column("what", max_width=60)
    table.add_column("why", max_width=50)
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
