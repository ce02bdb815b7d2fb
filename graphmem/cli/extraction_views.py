"""How an extraction and its proposals look in a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from rich.console import Group, RenderableType
from rich.text import Text

from graphmem.cli.belief_views import counted
from graphmem.cli.views import day
from graphmem.model import (
    AcceptedProposal,
    DismissedProposal,
    EvidenceKind,
    ExtractionReport,
    FailedWindow,
    PendingProposal,
    ProposalPage,
    ReviewReport,
)

EXTRACTED_QUOTE_CHARS = 120
EXTRACTION_MARKS = {EvidenceKind.SUPPORTING: ("+", "green"), EvidenceKind.REFUTING: ("-", "red")}


def extraction_report(done: ExtractionReport) -> Group:
    """Return what an extraction wrote, or would write."""
    lines: list[RenderableType] = [_extracted(one) for one in done.proposals]
    lines += [_refused(one) for one in done.refused]
    lines += [_unread(one) for one in done.unread]
    lines += [
        Text(f"to declare: graphmem belief predicate {one.predicate} --{one.cardinality.lower()}")
        for one in done.cardinalities
    ]
    return Group(*lines, _extraction_summary(done))


def proposals(found: ProposalPage) -> Group:
    """Return a page of proposals."""
    lines = [_proposed(one) for one in found.proposals]
    if not lines:
        return Group(Text("No such proposal.", style="dim"))
    if found.next_cursor:
        lines.append(Text(f"more: --cursor {found.next_cursor}", style="dim"))
    return Group(*lines)


def decided(done: Mapping[str, ReviewReport]) -> Group:
    """Return what was decided."""
    lines = []
    for what, one in done.items():
        again = f", {len(one.repeated)} before" if one.repeated else ""
        lines.append(Text(f"{counted(len(one.proposal_ids), 'proposal')} {what}{again}."))
        lines += [Text(f"evidence {event_id}", style="dim") for event_id in one.event_ids]
    return Group(*lines)


def _extracted(one: AcceptedProposal) -> Text:
    mark, colour = EXTRACTION_MARKS[one.kind]
    line = Text(f"{mark} ", style=colour).append(one.statement, style="default")
    since = f"since {day(one.occurred_at)}" if one.dated else day(one.occurred_at)
    fresh = ", new" if one.new else ""
    line.append(f"\n    {since}, {one.confidence:.2f} {one.source_type}{fresh}", style="dim")
    line.append(f"   {one.belief_id}", style="dim")
    return line.append(f"\n    “{_shortened_quote(one.quote)}”", style="dim")


def _refused(one: DismissedProposal) -> Text:
    line = Text("x ", style="yellow").append(f"{one.code}: {one.problem}", style="default")
    if one.proposal is not None:
        line.append(f"\n    “{_shortened_quote(one.proposal.quote)}”", style="dim")
    return line


def _unread(one: FailedWindow) -> Text:
    after = "given up" if one.given_up else "again next time"
    line = Text("? ", style="red")
    line.append(f"{counted(len(one.turn_ids), 'turn')}: {one.problem} ({one.code})")
    return line.append(f", {after}", style="dim")


def _proposed(one: PendingProposal) -> Text:
    mark, colour = EXTRACTION_MARKS[one.kind]
    line = Text(f"{mark} ", style=colour).append(one.statement, style="default")
    line.append(f"\n    {day(one.occurred_at)}, {one.confidence:.2f}, {one.status}", style="dim")
    return line.append(f"   {one.id}\n    “{_shortened_quote(one.quote)}”", style="dim")


def _extraction_summary(done: ExtractionReport) -> Text:
    verb = "Written" if done.applied else "Would be written"
    if done.review:
        verb = "Put up for review" if done.applied else "Would be put up for review"
    line = Text(f"{verb}: {len(done.proposals)}; refused: {_reasons(done)}. ")
    line.append(
        f"{counted(done.turns, 'turn')} read, {done.passed} before; {done.extractor}", style="dim"
    )
    if done.calls:
        price = "price unknown" if done.cost_usd is None else f"{done.cost_usd:.4f} USD"
        asked = f"{counted(done.calls, 'request')}, {done.tokens_in} + {done.tokens_out} tokens"
        line.append(f"\n{asked}, {price}", style="dim")
    return line


def _reasons(done: ExtractionReport) -> str:
    codes = Counter(one.code for one in done.refused)
    return ", ".join(f"{count} {code}" for code, count in codes.most_common()) or "none"


def _shortened_quote(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= EXTRACTED_QUOTE_CHARS else f"{line[: EXTRACTED_QUOTE_CHARS - 1]}…"
