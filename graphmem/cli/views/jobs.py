"""Terminal views of consolidation, compression, extraction and proposals."""

from __future__ import annotations

from collections import Counter

from rich.console import Group, RenderableType
from rich.text import Text

from graphmem import consolidation, extraction, model, upkeep
from graphmem.cli.console import counted, day, more, shortened

MAX_QUOTES = 5
LONGEST_QUOTE = 120
MAX_EPISODES = 20
MARKS = {
    consolidation.BeliefChangeKind.CREATE: ("+", "green", "new"),
    consolidation.BeliefChangeKind.SUPPORT: ("=", "cyan", "supported"),
    consolidation.BeliefChangeKind.CONTRADICT: ("-", "red", "contradicted"),
    consolidation.BeliefChangeKind.FLAG: ("!", "yellow", "flagged"),
    consolidation.BeliefChangeKind.RESTORE: ("^", "green", "restored"),
    consolidation.BeliefChangeKind.ARCHIVE: ("v", "dim", "archived"),
}

EXTRACTION_MARKS = {
    model.EvidenceKind.SUPPORTING: ("+", "green"),
    model.EvidenceKind.REFUTING: ("-", "red"),
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


def graduation(found: upkeep.GraduationReport) -> Group:
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


def compression(found: upkeep.CompressionReport) -> Group:
    """Return the episodes that were or would be compressed."""
    if not found.episodes:
        return Group(Text("No episode to compress.", style="dim"))
    verb = "Compressed" if found.applied else "Would be compressed"
    freed = sum(one.characters - len(one.kept) for one in found.episodes if not one.turns)
    turns = sum(one.turns for one in found.episodes)
    searched = f", {counted(turns, 'turn')} no longer searched" if turns else ""
    lines = [
        Text(
            f"{verb}: {counted(len(found.episodes), 'episode')}, {freed:,} characters saved"
            f"{searched}."
        )
    ]
    for episode in found.episodes[:MAX_EPISODES]:
        line = Text(f"{day(episode.occurred_at):>11}  ", style="dim")
        line.append(shortened(episode.kept, LONGEST_QUOTE), style="default")
        lines.append(line.append(f"   {episode.episode_id}, {episode.characters:,} characters"))
    if len(found.episodes) > MAX_EPISODES:
        lines.append(Text(f"and {len(found.episodes) - MAX_EPISODES} more", style="dim"))
    return Group(*lines)


def pinned(done: upkeep.PinReceipt) -> Text:
    """Return whether pruning leaves an episode alone."""
    return Text(f"{done.episode_id} is {'pinned' if done.pinned else 'not pinned'}.")


def summaries(found: model.SummaryReport) -> Group:
    """Return the conversations that were or would be summarised."""
    if not found.episodes:
        return Group(Text("No conversation to summarise.", style="dim"))
    verb = "Summarised" if found.applied else "Would be summarised"
    lines = [Text(f"{verb}: {counted(len(found.episodes), 'conversation')}.")]
    for one in found.episodes[:MAX_EPISODES]:
        line = Text(f"{day(one.occurred_at):>11}  ", style="dim")
        line.append(shortened(one.summary, LONGEST_QUOTE), style="default")
        lines.append(line.append(f"   {one.episode_id}, importance {one.importance:.2f}"))
        if one.problem:
            lines.append(Text(f"             by rules: {one.problem}", style="yellow"))
    if len(found.episodes) > MAX_EPISODES:
        lines.append(Text(f"and {len(found.episodes) - MAX_EPISODES} more", style="dim"))
    if found.calls:
        lines.append(Text(f"{counted(found.calls, 'request')} to the model", style="dim"))
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
        line.append_text(_model_use(found))
    return line


def extraction_report(done: extraction.ExtractionReport) -> Group:
    """Return the evidence that an extraction wrote or would write."""
    lines: list[RenderableType] = [_extracted(proposal) for proposal in done.proposals]
    lines += [_dismissed(proposal) for proposal in done.refused]
    lines += [_unread(window) for window in done.unread]
    declare = "to declare: graphmem predicate declare"
    lines += [
        Text(f"{declare} {hint.predicate} --cardinality {hint.cardinality}")
        for hint in done.cardinalities
    ]
    return Group(*lines, _extraction_summary(done))


def proposals(found: extraction.ProposalPage) -> Group:
    """Return a page of proposals."""
    lines = [_proposed(proposal) for proposal in found.proposals]
    lines += [_updated(update) for update in found.updates]
    lines += [_taken_back(retraction) for retraction in found.retractions]
    if not lines:
        return Group(Text("No matching proposals.", style="dim"))
    return Group(*lines, *more(found.next_cursor))


def decided(done: extraction.ReviewReport, decision: str) -> Group:
    """Return a decision on proposals and the evidence that it created."""
    repeated = f", {len(done.repeated)} before" if done.repeated else ""
    head = f"{counted(len(done.proposal_ids), 'proposal')} {decision}{repeated}."
    lines = [f"event {event_id}" for event_id in done.event_ids]
    lines += [f"declared the cardinality of {name}" for name in done.declared]
    return Group(head, *(Text(line, style="dim") for line in lines))


def restored(done: upkeep.RestoredEpisode) -> str:
    """Return the receipt of a restored episode."""
    state = f"is restored; event {done.event_id}" if done.changed else "was not compressed"
    return f"{done.episode_id} {state}."


def _extracted(proposal: extraction.AcceptedProposal) -> Text:
    mark, colour = EXTRACTION_MARKS[proposal.kind]
    line = Text(f"{mark} ", style=colour).append(proposal.statement, style="default")
    since = f"since {day(proposal.occurred_at)}" if proposal.dated else day(proposal.occurred_at)
    fresh = ", new" if proposal.new else ""
    line.append(
        f"\n    {since}, {proposal.confidence:.2f} {proposal.source_type}{fresh}", style="dim"
    )
    line.append(f"   {proposal.belief_id}", style="dim")
    return line.append(f"\n    “{shortened(proposal.quote, LONGEST_QUOTE)}”", style="dim")


def _dismissed(dismissed: extraction.DismissedProposal) -> Text:
    line = Text("x ", style="yellow").append(
        f"{dismissed.code}: {dismissed.problem}", style="default"
    )
    if dismissed.proposal is not None:
        line.append(f"\n    “{shortened(dismissed.proposal.quote, LONGEST_QUOTE)}”", style="dim")
    return line


def _unread(window: extraction.FailedWindow) -> Text:
    after = "abandoned" if window.given_up else "will be retried"
    line = Text("? ", style="red")
    line.append(f"{counted(len(window.turn_ids), 'turn')}: {window.problem} ({window.code})")
    return line.append(f", {after}", style="dim")


def _proposed(proposal: extraction.PendingProposal) -> Text:
    mark, colour = EXTRACTION_MARKS[proposal.kind]
    line = Text(f"{mark} ", style=colour).append(proposal.statement, style="default")
    line.append(
        f"\n    {day(proposal.occurred_at)}, {proposal.confidence:.2f}, {_since(proposal)}",
        style="dim",
    )
    return line.append(
        f"   {proposal.id}\n    “{shortened(proposal.quote, LONGEST_QUOTE)}”", style="dim"
    )


def _since(
    proposal: extraction.PendingProposal | extraction.PendingUpdate | extraction.PendingRetraction,
) -> str:
    """Return the status of a proposal, and since when one without a decision waits for it."""
    waits = proposal.status == extraction.ProposalStatus.OPEN
    return f"open since {day(proposal.recorded_at)}" if waits else proposal.status


def _updated(update: extraction.PendingUpdate) -> Text:
    line = Text("→ ", style="yellow").append(update.newer or "erased", style="default")
    line.append(f"\n    {day(update.occurred_at)}, {_since(update)}   {update.id}", style="dim")
    return line.append(f"\n    replaces “{update.older or 'erased'}”", style="dim")


def _taken_back(retraction: extraction.PendingRetraction) -> Text:
    line = Text("↶ ", style="yellow").append(retraction.statement or "erased", style="default")
    line.append(f"\n    {day(retraction.occurred_at)}, {_since(retraction)}   {retraction.id}")
    note = f": {retraction.note}" if retraction.note else ""
    return line.append(f"\n    takes back {retraction.event_id}{note}", style="dim")


def _extraction_summary(done: extraction.ExtractionReport) -> Text:
    verb = "Written" if done.applied else "Would be written"
    if done.review:
        verb = "Submitted for review" if done.applied else "Would be submitted for review"
    line = Text(f"{verb}: {len(done.proposals)}; dismissed: {_reasons(done)}. ")
    line.append(
        f"{counted(done.turns, 'turn')} read, {done.passed} before; {done.extractor}", style="dim"
    )
    if done.calls:
        line.append_text(_model_use(done))
    return line


def _model_use(done: consolidation.ConsolidationReport | extraction.ExtractionReport) -> Text:
    price = "price unknown" if done.cost_usd is None else f"{done.cost_usd:.4f} USD"
    tokens = f"{done.tokens_in} + {done.tokens_out} tokens"
    return Text(f"\n{counted(done.calls, 'request')}, {tokens}, {price}", style="dim")


def _reasons(done: extraction.ExtractionReport) -> str:
    codes = Counter(proposal.code for proposal in done.refused)
    return ", ".join(f"{count} {code}" for code, count in codes.most_common()) or "none"
