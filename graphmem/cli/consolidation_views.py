"""How a run of consolidation looks in a terminal: a diff of beliefs, then what it came to."""

from __future__ import annotations

from collections import Counter

from rich.console import Group, RenderableType
from rich.text import Text

from graphmem.cli.belief_views import counted
from graphmem.cli.views import day
from graphmem.model import (
    BeliefChange,
    BeliefChangeKind,
    ClusterFailure,
    CompressionReport,
    ConsolidationReport,
    GraduationReport,
)

MOST_QUOTES = 5
LONGEST_QUOTE = 120
MOST_EPISODES = 20
MARKS = {
    BeliefChangeKind.CREATE: ("+", "green", "new"),
    BeliefChangeKind.SUPPORT: ("=", "cyan", "supported"),
    BeliefChangeKind.CONTRADICT: ("-", "red", "contradicted"),
    BeliefChangeKind.FLAG: ("!", "yellow", "flagged"),
    BeliefChangeKind.RESTORE: ("^", "green", "restored"),
    BeliefChangeKind.ARCHIVE: ("v", "dim", "archived"),
}


def consolidation_report(found: ConsolidationReport) -> Group:
    """Return what a run did, or would do."""
    lines: list[RenderableType] = [_change(one) for one in found.changes]
    lines += [_trouble(one) for one in found.troubles]
    return Group(*lines, _summary(found))


def graduation(found: GraduationReport) -> Group:
    """Return which lines were added to a digest, or would be."""
    lines = [
        Text(one.line) if one.added else Text(f"{one.line}   was there", style="dim")
        for one in found.episodes
    ]
    verb = "Graduated" if found.applied else "Would graduate"
    if not found.episodes:
        return Group(Text(f"No episode is due for {found.file}.", style="dim"))
    more = "; others next time" if found.more else ""
    head = f"{verb} into {found.file}: {counted(len(lines), 'episode')}{more}."
    return Group(Text(head), *lines)


def compression(found: CompressionReport) -> Group:
    """Return which episodes were compressed, or would be."""
    if not found.episodes:
        return Group(Text("No episode is to be compressed.", style="dim"))
    verb = "Compressed" if found.applied else "Would be compressed"
    freed = sum(one.characters - len(one.kept) for one in found.episodes)
    lines = [Text(f"{verb}: {counted(len(found.episodes), 'episode')}, {freed:,} characters less.")]
    for one in found.episodes[:MOST_EPISODES]:
        line = Text(f"{day(one.occurred_at):>11}  ", style="dim")
        line.append(_shortened(one.kept), style="default")
        lines.append(line.append(f"   {one.episode_id}, {one.characters:,} characters"))
    if len(found.episodes) > MOST_EPISODES:
        lines.append(Text(f"and {len(found.episodes) - MOST_EPISODES} more", style="dim"))
    return Group(*lines)


def _change(one: BeliefChange) -> Text:
    mark, colour, word = MARKS[one.step]
    line = Text(f"{mark} ", style=colour).append(one.statement, style="default")
    of = f", from {counted(len(one.episode_ids), 'episode')}" if one.quotes else ""
    why = f": {one.reason}" if one.reason else ""
    line.append(f"\n    {word}{of}{why}   {one.belief_id}", style="dim")
    for quote in one.quotes[:MOST_QUOTES]:
        line.append(f"\n    {day(quote.occurred_at):>11}  ", style="dim")
        line.append(f"{quote.confidence:.2f}  ", style="dim").append(_shortened(quote.text))
    if len(one.quotes) > MOST_QUOTES:
        line.append(f"\n    and {len(one.quotes) - MOST_QUOTES} more", style="dim")
    return line


def _trouble(one: ClusterFailure) -> Text:
    after = "given up" if one.given_up else f"tried {counted(one.attempts, 'time')}, again later"
    line = Text(f"? {counted(len(one.episode_ids), 'episode')}: ", style="red")
    line.append(f"{one.problem} ({one.code})", style="default")
    return line.append(f"\n    {after}   {one.reply_id}", style="dim")


def _summary(found: ConsolidationReport) -> Text:
    if found.skipped:
        return Text(f"Nothing was done: {found.skipped}.", style="dim")
    steps = Counter(one.step for one in found.changes)
    done = ", ".join(f"{steps[step]} {MARKS[step][2]}" for step in BeliefChangeKind if steps[step])
    verb = "Done" if found.applied else "Would be done"
    line = Text(f"{verb}: {done or 'nothing'}. ")
    seen = (
        f"{counted(found.episodes, 'episode')}, {found.fresh} new; "
        f"{counted(found.passages, 'passage')}, {counted(found.clusters, 'cluster')}; "
        f"{found.synthesiser}"
    )
    line.append(seen, style="dim")
    if found.resumed:
        line.append("; went on with an interrupted run", style="dim")
    if found.calls:
        price = "price unknown" if found.cost_usd is None else f"{found.cost_usd:.4f} USD"
        asked = f"{counted(found.calls, 'request')}, {found.tokens_in} + {found.tokens_out} tokens"
        line.append(f"\n{asked}, {price}", style="dim")
    return line


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_QUOTE else f"{line[: LONGEST_QUOTE - 1]}…"
