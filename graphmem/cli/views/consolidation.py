"""Terminal views of consolidation."""

from __future__ import annotations

from collections import Counter

from rich.console import Group, RenderableType
from rich.text import Text

from graphmem import consolidation
from graphmem.cli.console import counted, day, shortened
from graphmem.cli.views.extraction import LONGEST_QUOTE, model_use

MAX_QUOTES = 5

MARKS = {
    consolidation.BeliefChangeKind.CREATE: ("+", "green", "new"),
    consolidation.BeliefChangeKind.SUPPORT: ("=", "cyan", "supported"),
    consolidation.BeliefChangeKind.CONTRADICT: ("-", "red", "contradicted"),
    consolidation.BeliefChangeKind.FLAG: ("!", "yellow", "flagged"),
    consolidation.BeliefChangeKind.RESTORE: ("^", "green", "restored"),
    consolidation.BeliefChangeKind.ARCHIVE: ("v", "dim", "archived"),
}


def consolidation_report(found: consolidation.ConsolidationReport) -> Group:
    """Return the changes of a run, or of a dry run, and its summary."""
    lines: list[RenderableType] = [_change(change) for change in found.changes]
    lines += [_failure(failure) for failure in found.troubles]
    return Group(*lines, _summary(found))


def consolidation_status(found: consolidation.ConsolidationStatus) -> Group:
    """Return what waits for consolidation, and why."""
    lines: list[RenderableType] = [
        Text(f"{counted(found.episodes, 'episode')}, {found.fresh} of them new: {found.reason}.")
    ]
    if found.running:
        lines.append(Text("A worker is running.", style="dim"))
    elif found.open_since is not None:
        lines.append(Text(f"An unfinished run of {day(found.open_since)} is resumed.", style="dim"))
    lines += [_failure(failure) for failure in found.clusters]
    if any(failure.given_up for failure in found.clusters):
        lines.append(
            Text("`graphmem consolidate --retry` tries abandoned ones again.", style="dim")
        )
    return Group(*lines)


def _change(change: consolidation.BeliefChange) -> Text:
    mark, colour, word = MARKS[change.step]
    line = Text(f"{mark} ", style=colour).append(change.statement, style="default")
    of = f", from {counted(len(change.episode_ids), 'episode')}" if change.quotes else ""
    if change.generalises:
        of = f", depth {change.depth}, generalises {counted(len(change.generalises), 'belief')}{of}"
    why = f": {change.reason}" if change.reason else ""
    line.append(f"\n    {word}{of}{why}   {change.belief_id}", style="dim")
    for quote in change.quotes[:MAX_QUOTES]:
        line.append(f"\n    {day(quote.occurred_at):>11}  ", style="dim")
        line.append(f"{quote.confidence:.2f}  ", style="dim").append(
            shortened(quote.text, LONGEST_QUOTE)
        )
    if len(change.quotes) > MAX_QUOTES:
        line.append(f"\n    and {len(change.quotes) - MAX_QUOTES} more", style="dim")
    return line


def _failure(failure: consolidation.ClusterFailure) -> Text:
    after = (
        "abandoned"
        if failure.given_up
        else f"{counted(failure.attempts, 'invalid reply', 'invalid replies')}, will be retried"
    )
    line = Text(f"? {counted(len(failure.episode_ids), 'episode')}: ", style="red")
    line.append(f"{failure.problem} ({failure.code})", style="default")
    return line.append(f"\n    {after}   {failure.reply_id}", style="dim")


def _summary(found: consolidation.ConsolidationReport) -> Text:
    if found.skipped:
        return Text(f"No changes: {found.skipped}.", style="dim")
    steps = Counter(change.step for change in found.changes)
    done = ", ".join(
        f"{steps[step]} {MARKS[step][2]}" for step in consolidation.BeliefChangeKind if steps[step]
    )
    verb = "Done" if found.applied else "Would be done"
    line = Text(f"{verb}: {done or 'nothing'}. ")
    totals = (
        f"{counted(found.episodes, 'episode')}, {found.fresh} new; "
        f"{counted(found.passages, 'passage')}, {counted(found.clusters, 'cluster')}; "
        f"{found.synthesiser}"
    )
    line.append(totals, style="dim")
    if found.resumed:
        line.append("; resumed an interrupted run", style="dim")
    if found.calls:
        line.append_text(model_use(found))
    return line
