"""Terminal views of extractions and of proposals under review."""

from __future__ import annotations

from collections import Counter

from rich.console import Group, RenderableType
from rich.text import Text

from graphmem import consolidation, extraction, model
from graphmem.cli.console import counted, day, more, shortened

LONGEST_QUOTE = 120

EXTRACTION_MARKS = {
    model.EvidenceKind.SUPPORTING: ("+", "green"),
    model.EvidenceKind.REFUTING: ("-", "red"),
}


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
        line.append_text(model_use(done))
    return line


def _reasons(done: extraction.ExtractionReport) -> str:
    codes = Counter(proposal.code for proposal in done.refused)
    return ", ".join(f"{count} {code}" for code, count in codes.most_common()) or "none"


def model_use(done: consolidation.ConsolidationReport | extraction.ExtractionReport) -> Text:
    """Return the number of requests to a model, their tokens and their price."""
    price = "price unknown" if done.cost_usd is None else f"{done.cost_usd:.4f} USD"
    tokens = f"{done.tokens_in} + {done.tokens_out} tokens"
    return Text(f"\n{counted(done.calls, 'request')}, {tokens}, {price}", style="dim")
