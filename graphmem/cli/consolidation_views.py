"""Terminal views of consolidation, compression, extraction and proposals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.text import Text

from graphmem.cli.belief_views import counted
from graphmem.cli.views import day
from graphmem.model import (
    AcceptedProposal,
    BeliefChange,
    BeliefChangeKind,
    ClusterFailure,
    CompressionReport,
    ConsolidationReport,
    DismissedProposal,
    EvidenceKind,
    ExtractionReport,
    FailedWindow,
    GraduationReport,
    PendingProposal,
    ProposalPage,
    ReviewReport,
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
    """Return the changes of a run, or of a dry run, and its summary."""
    lines: list[RenderableType] = [_change(change) for change in found.changes]
    lines += [_failure(failure) for failure in found.troubles]
    return Group(*lines, _summary(found))


def graduation(found: GraduationReport) -> Group:
    """Return the lines that were or would be added to a digest."""
    lines = [
        Text(episode.line)
        if episode.added
        else Text(f"{episode.line}   already present", style="dim")
        for episode in found.episodes
    ]
    verb = "Graduated" if found.applied else "Would graduate"
    if not found.episodes:
        return Group(Text(f"No episode is due for {found.file}.", style="dim"))
    more = "; the next run adds others" if found.more else ""
    head = f"{verb} into {found.file}: {counted(len(lines), 'episode')}{more}."
    return Group(Text(head), *lines)


def compression(found: CompressionReport) -> Group:
    """Return the episodes that were or would be compressed."""
    if not found.episodes:
        return Group(Text("No episode to compress.", style="dim"))
    verb = "Compressed" if found.applied else "Would be compressed"
    freed = sum(episode.characters - len(episode.kept) for episode in found.episodes)
    lines = [
        Text(f"{verb}: {counted(len(found.episodes), 'episode')}, {freed:,} characters saved.")
    ]
    for episode in found.episodes[:MOST_EPISODES]:
        line = Text(f"{day(episode.occurred_at):>11}  ", style="dim")
        line.append(_shortened(episode.kept), style="default")
        lines.append(line.append(f"   {episode.episode_id}, {episode.characters:,} characters"))
    if len(found.episodes) > MOST_EPISODES:
        lines.append(Text(f"and {len(found.episodes) - MOST_EPISODES} more", style="dim"))
    return Group(*lines)


def _change(change: BeliefChange) -> Text:
    mark, colour, word = MARKS[change.step]
    line = Text(f"{mark} ", style=colour).append(change.statement, style="default")
    of = f", from {counted(len(change.episode_ids), 'episode')}" if change.quotes else ""
    why = f": {change.reason}" if change.reason else ""
    line.append(f"\n    {word}{of}{why}   {change.belief_id}", style="dim")
    for quote in change.quotes[:MOST_QUOTES]:
        line.append(f"\n    {day(quote.occurred_at):>11}  ", style="dim")
        line.append(f"{quote.confidence:.2f}  ", style="dim").append(_shortened(quote.text))
    if len(change.quotes) > MOST_QUOTES:
        line.append(f"\n    and {len(change.quotes) - MOST_QUOTES} more", style="dim")
    return line


def _failure(failure: ClusterFailure) -> Text:
    after = (
        "abandoned"
        if failure.given_up
        else f"tried {counted(failure.attempts, 'time')}, will be retried"
    )
    line = Text(f"? {counted(len(failure.episode_ids), 'episode')}: ", style="red")
    line.append(f"{failure.problem} ({failure.code})", style="default")
    return line.append(f"\n    {after}   {failure.reply_id}", style="dim")


def _summary(found: ConsolidationReport) -> Text:
    if found.skipped:
        return Text(f"No changes: {found.skipped}.", style="dim")
    steps = Counter(change.step for change in found.changes)
    done = ", ".join(f"{steps[step]} {MARKS[step][2]}" for step in BeliefChangeKind if steps[step])
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
        price = "price unknown" if found.cost_usd is None else f"{found.cost_usd:.4f} USD"
        usage = f"{counted(found.calls, 'request')}, {found.tokens_in} + {found.tokens_out} tokens"
        line.append(f"\n{usage}, {price}", style="dim")
    return line


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_QUOTE else f"{line[: LONGEST_QUOTE - 1]}…"


EXTRACTION_MARKS = {EvidenceKind.SUPPORTING: ("+", "green"), EvidenceKind.REFUTING: ("-", "red")}


def extraction_report(done: ExtractionReport) -> Group:
    """Return the evidence that an extraction wrote or would write."""
    lines: list[RenderableType] = [_extracted(proposal) for proposal in done.proposals]
    lines += [_dismissed(proposal) for proposal in done.refused]
    lines += [_unread(window) for window in done.unread]
    lines += [
        Text(f"to declare: graphmem belief predicate {hint.predicate} --{hint.cardinality.lower()}")
        for hint in done.cardinalities
    ]
    return Group(*lines, _extraction_summary(done))


def proposals(found: ProposalPage) -> Group:
    """Return a page of proposals."""
    lines = [_proposed(proposal) for proposal in found.proposals]
    if not lines:
        return Group(Text("No matching proposals.", style="dim"))
    if found.next_cursor:
        lines.append(Text(f"more: --cursor {found.next_cursor}", style="dim"))
    return Group(*lines)


def decided(done: Mapping[str, ReviewReport]) -> Group:
    """Return the decisions on proposals."""
    lines = []
    for decision, report in done.items():
        repeated = f", {len(report.repeated)} before" if report.repeated else ""
        number = counted(len(report.proposal_ids), "proposal")
        lines.append(Text(f"{number} {decision}{repeated}."))
        lines += [Text(f"evidence {event_id}", style="dim") for event_id in report.event_ids]
    return Group(*lines)


def _extracted(proposal: AcceptedProposal) -> Text:
    mark, colour = EXTRACTION_MARKS[proposal.kind]
    line = Text(f"{mark} ", style=colour).append(proposal.statement, style="default")
    since = f"since {day(proposal.occurred_at)}" if proposal.dated else day(proposal.occurred_at)
    fresh = ", new" if proposal.new else ""
    line.append(
        f"\n    {since}, {proposal.confidence:.2f} {proposal.source_type}{fresh}", style="dim"
    )
    line.append(f"   {proposal.belief_id}", style="dim")
    return line.append(f"\n    “{_shortened(proposal.quote)}”", style="dim")


def _dismissed(dismissed: DismissedProposal) -> Text:
    line = Text("x ", style="yellow").append(
        f"{dismissed.code}: {dismissed.problem}", style="default"
    )
    if dismissed.proposal is not None:
        line.append(f"\n    “{_shortened(dismissed.proposal.quote)}”", style="dim")
    return line


def _unread(window: FailedWindow) -> Text:
    after = "abandoned" if window.given_up else "will be retried"
    line = Text("? ", style="red")
    line.append(f"{counted(len(window.turn_ids), 'turn')}: {window.problem} ({window.code})")
    return line.append(f", {after}", style="dim")


def _proposed(proposal: PendingProposal) -> Text:
    mark, colour = EXTRACTION_MARKS[proposal.kind]
    line = Text(f"{mark} ", style=colour).append(proposal.statement, style="default")
    line.append(
        f"\n    {day(proposal.occurred_at)}, {proposal.confidence:.2f}, {proposal.status}",
        style="dim",
    )
    return line.append(f"   {proposal.id}\n    “{_shortened(proposal.quote)}”", style="dim")


def _extraction_summary(done: ExtractionReport) -> Text:
    verb = "Written" if done.applied else "Would be written"
    if done.review:
        verb = "Submitted for review" if done.applied else "Would be submitted for review"
    line = Text(f"{verb}: {len(done.proposals)}; dismissed: {_reasons(done)}. ")
    line.append(
        f"{counted(done.turns, 'turn')} read, {done.passed} before; {done.extractor}", style="dim"
    )
    if done.calls:
        price = "price unknown" if done.cost_usd is None else f"{done.cost_usd:.4f} USD"
        usage = f"{counted(done.calls, 'request')}, {done.tokens_in} + {done.tokens_out} tokens"
        line.append(f"\n{usage}, {price}", style="dim")
    return line


def _reasons(done: ExtractionReport) -> str:
    codes = Counter(proposal.code for proposal in done.refused)
    return ", ".join(f"{count} {code}" for code, count in codes.most_common()) or "none"
