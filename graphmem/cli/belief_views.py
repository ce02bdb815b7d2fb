"""Terminal views of slots, beliefs, tests and policies, and the reader of observation files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from graphmem.cli.views import MARKS, day, more
from graphmem.client.state import valid
from graphmem.errors import InvalidInputError, SourceFileError
from graphmem.model import (
    Alias,
    Belief,
    BeliefPage,
    Candidate,
    Cardinality,
    EvidenceDetail,
    EvidenceKind,
    EvidenceReceipt,
    Observation,
    Policy,
    Predicate,
    ReplacementReceipt,
    Slot,
    Status,
    Trail,
    TrailStep,
    Verdict,
    VerdictStatus,
    Vitality,
)
from graphmem.rules import identity

COLOURS = {
    VerdictStatus.ACCUMULATING: "default",
    VerdictStatus.PROMOTED: "green",
    VerdictStatus.DEMOTED: "red",
}
SIGNS = {EvidenceKind.SUPPORTING: ("+", "green"), EvidenceKind.REFUTING: ("−", "red")}


def number(value: float, digits: int = 2) -> str:
    """Return a number with a real minus sign."""
    return f"{value:.{digits}f}".replace("-", "−")


def signed(value: float, digits: int = 3) -> str:
    """Return a number with an explicit sign."""
    return f"{value:+.{digits}f}".replace("-", "−")


def sign(kind: EvidenceKind) -> Text:
    """Return the mark of supporting or refuting evidence."""
    mark, colour = SIGNS[kind]
    return Text(mark, style=colour)


def counted(n: int, singular: str, plural: str | None = None) -> str:
    """Return a count with its noun."""
    return f"{n} {singular if n == 1 else plural or singular + 's'}"


def verdict(found: Verdict) -> Text:
    """Return the status of a test and whether a revision is due."""
    line = Text(str(found.status), style=COLOURS[found.status])
    if found.revise_due:
        line.append("  revise due", style="yellow")
    return line


def policy(found: Policy) -> str:
    """Return a one-line summary of a policy."""
    parts = [str(found.cardinality)]
    if found.cardinality is Cardinality.ONE:
        tau = "∞" if found.tau_days is None else f"{found.tau_days:g} days"
        parts += [f"κ {found.kappa:g}", f"τ {tau}", f"margin {found.margin:g}"]
    else:
        parts.append(str(found.combine))
    if found.decay_per_day:
        parts.append(f"decay {found.decay_per_day:g} a day")
    return ", ".join(parts)


def slot(found: Slot, leader: Belief | None) -> RenderableType:
    """Return the candidates of a slot, best first; `leader` is the belief of the slot's leader."""
    if not found.candidates:
        return Text(f"No beliefs about {found.subject} {found.predicate}.", style="dim")
    head = Text(f"{found.subject} {found.predicate}", style="bold")
    head.append(f"   {policy(found.policy)}", style="dim not bold")
    table = Table(show_header=False, box=None, pad_edge=False)
    for place, candidate in enumerate(found.candidates, 1):
        led = leader if found.leader is candidate else None
        table.add_row(str(place), *_candidate(candidate, led))
    lines: list[RenderableType] = [head, table]
    if found.names:
        lines.append(Text(f"includes the aliases: {', '.join(found.names)}", style="dim"))
    if found.ambiguous:
        lines.append(Text("The two best values are too close to call.", style="yellow"))
    if found.total > len(found.candidates):
        lines.append(Text(f"{found.total - len(found.candidates)} more: --limit", style="dim"))
    first = found.leader or found.candidates[0]
    lines.append(Text(f"why: graphmem why {first.belief_id}", style="dim"))
    return Group(*lines)


def _candidate(found: Candidate, leader: Belief | None) -> tuple[RenderableType, ...]:
    mark = Text("●", style="green") if leader else Text("○", style="dim")
    what = Text(found.object)
    if found.status != Status.CURRENT:
        what.append(f"  {found.status}", style="yellow")
    marks = [name for name in ("ambiguous", "contested") if getattr(found, name)]
    status = verdict(leader.verdict) if leader else Text()
    if marks:
        status.append("  " * bool(status) + ", ".join(marks), style="yellow")
    newest = f"newest {day(found.last_at)}" if found.last_at else "never affirmed"
    return (
        mark,
        what,
        number(found.belief),
        status,
        Text(f"{_counts(found)}, {newest}", style="dim"),
    )


def _counts(found: Candidate) -> str:
    if found.supporting_episodes is None:
        return counted(found.events, "event")
    return f"{counted(found.supporting_episodes, 'episode')} for, {found.refuting_episodes} against"


def page(found: BeliefPage) -> Group:
    """Return beliefs, two lines each, and the cursor of the next page."""
    lines: list[RenderableType] = [_belief_lines(item) for item in found.beliefs]
    if not lines:
        lines.append(Text("No beliefs.", style="dim"))
    return Group(*lines, *more(found.next_cursor))


def _belief_lines(found: Belief) -> Text:
    line = headline(found)
    return line.append(f"\n  {found.id}   {_sides(found)}", style="dim")


def headline(found: Belief) -> Text:
    """Return the statement of a belief, its value and the status of its test."""
    mark, colour = MARKS[Status(found.status)]
    line = Text(f"{mark} ", style=colour)
    line.append(found.statement, style="default")
    line.append(f"   {number(found.belief)}   ", style="bold")
    line.append_text(verdict(found.verdict))
    if found.contested:
        line.append("  contested", style="yellow")
    if found.status != Status.CURRENT:
        line.append(f"  {found.status}", style="yellow")
    flagged_at = found.vitality.flagged_at if found.vitality else None
    return line.append(f"  flagged since {day(flagged_at)}", style="yellow") if flagged_at else line


def _sides(found: Belief) -> str:
    episodes = counted(found.supporting_episodes, "episode")
    sides = f"{episodes} for, {found.refuting_episodes} against, first {day(found.created_at)}"
    return f"{sides}{f', retrieval {number(found.vitality.retrieval)}' if found.vitality else ''}"


def belief(found: Belief) -> Group:
    """Return one belief in full."""
    table = Table(show_header=False, box=None, pad_edge=False)
    test = f"{found.verdict.status}, log ratio {number(found.verdict.log_ratio, 3)}"
    for name, value in (
        ("belief", number(found.belief, 4)),
        ("before evidence", number(found.initial_confidence)),
        ("for", f"P+ {number(found.positive, 4)}, {counted(found.supporting_episodes, 'episode')}"),
        (
            "against",
            f"P− {number(found.negative, 4)}, {counted(found.refuting_episodes, 'episode')}",
        ),
        ("test", f"{test}, {counted(found.verdict.evidence, 'piece')}"),
        ("its confidence", number(found.verdict.confidence)),
        *(_vitality(found.vitality) if found.vitality else ()),
        ("triple", " | ".join(filter(None, (found.subject, found.predicate, found.object)))),
        ("first", found.created_at.isoformat()),
        ("scope", found.scope),
        ("id", found.id),
        ("why", f"graphmem why {found.id}"),
    ):
        if value:
            table.add_row(Text(name, style="dim"), value)
    return Group(headline(found), table)


def _vitality(found: Vitality) -> Iterator[tuple[str, str]]:
    stability = f"S {counted(round(found.stability_days), 'day')}"
    accessed = day(found.last_access_at) if found.last_access_at else "never"
    yield "retrieval", f"R {number(found.retrieval)}, {stability}, last accessed: {accessed}"
    yield "storage", f"{counted(found.storage, 'piece')}, importance {number(found.importance)}"
    precision = f"precision {number(found.precision)}"
    yield "mean", f"{number(found.mean, 4)}, {precision}, gate {number(found.gate)}"
    yield "inferred", "only by consolidation" if found.derived else ""


def trail(found: Trail) -> Group:
    """Return a sequential test piece by piece, and its status."""
    table = Table("#", "when", "", "s", "llr", "sum", "test", "conf.", box=None, pad_edge=False)
    for place, line in enumerate(found.lines, 1):
        table.add_row(
            str(place),
            f"{line.occurred_at:%Y-%m-%d %H:%M}",
            sign(line.kind),
            number(line.strength),
            signed(line.llr),
            signed(line.log_ratio),
            Text(str(line.status), style=COLOURS[line.status]),
            number(line.confidence),
        )
    origins = [origin(place, line) for place, line in enumerate(found.lines, 1)]
    return Group(table, standing(found), "", *origins)


def origin(place: int, piece: TrailStep | EvidenceDetail) -> Text:
    """Return the origin of a piece of evidence, with full ids for copying."""
    if isinstance(piece, TrailStep) and piece.supposed:
        return Text(f"#{place}  supposed", style="dim")
    parts = [f"#{place}  {piece.event_id}", piece.source_type]
    for name, value in (("episode", piece.episode_id), ("turn", piece.turn_id)):
        parts.append(f"{name} {value}" if value else None)
    if isinstance(piece, EvidenceDetail) and piece.memory_id:
        parts.append(f"memory {piece.memory_id}")
    return Text("  ".join(filter(None, [*parts, piece.note])), style="dim")


def standing(found: Trail) -> Text:
    """Return the status of a test and the evidence needed to change it."""
    line = Text(f"log ratio {number(found.verdict.log_ratio, 3)}: ", style="bold")
    line.append_text(verdict(found.verdict))
    line.append(
        f"; confidence {number(found.initial_confidence)} → {number(found.verdict.confidence)}"
    )
    needed = found.needed
    for name, units, pieces in (
        ("promote", needed.promote, needed.promote_pieces),
        ("demote", needed.demote, needed.demote_pieces),
    ):
        if units:
            strong = counted(pieces, "strong piece")
            line.append(f"\nto {name} it: {number(units, 3)} more, at least {strong}", style="dim")
    return line


def recorded(done: EvidenceReceipt) -> Text:
    """Return the receipt of one piece of evidence, with warnings."""
    line = Text("already recorded" if done.repeated else "recorded", style="green")
    line.append(f"   {done.belief_id}   event {done.event_id}", style="default")
    if done.clamped and done.strength is not None:
        line.append(f"\ncounted with strength {done.strength:g}", style="yellow")
    if done.counts_against:
        line.append("\na strength below 0.5 counts as evidence of the other kind", style="yellow")
    return line


def imported(counts: Mapping[str, int]) -> Text:
    """Return the totals of an import of observations."""
    line = Text(f"{counted(counts['recorded'], 'observation')} recorded", style="green")
    line.append(f" about {counted(counts['beliefs'], 'belief')}", style="default")
    if counts["repeated"]:
        line.append(f"; {counts['repeated']} were already recorded", style="dim")
    return line


def replaced(done: ReplacementReceipt) -> Text:
    """Return the ids of the new and the replaced beliefs."""
    newer, older = ", ".join(done.newer_ids), ", ".join(done.older_ids)
    return Text(f"{newer} replaces\n{older}\nevent {done.event_id}")


def predicates(found: Sequence[Predicate]) -> RenderableType:
    """Return the declared policies."""
    if not found:
        return Text(f"No policy is declared; default: {policy(Policy())}.", style="dim")
    table = Table("predicate", "policy", "since", "template", box=None, pad_edge=False)
    for item in found:
        table.add_row(item.name, policy(item.policy), day(item.occurred_at), item.template or "")
    return table


def names(found: Sequence[Alias]) -> RenderableType:
    """Return the table of aliases."""
    if not found:
        return Text("No aliases.", style="dim")
    table = Table("name", "alias of", "since", box=None, pad_edge=False)
    for alias in found:
        table.add_row(alias.name, alias.same_as, day(alias.occurred_at))
    return table


def read_observations(path: Path, scope: str) -> list[Observation]:
    """Return the observations of a file, in file order; blank lines are skipped.

    Args:
        path: JSON Lines file in UTF-8.
        scope: write scope of the observations. Event ids are unique in a tenant, so the scope is
            part of the id derived for a line without one.

    Raises:
        SourceFileError: the file cannot be read, or a line is not a valid observation; names the
            line.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise SourceFileError(f"{path.name} cannot be read: {reason}.") from None
    # Not splitlines(): it also splits at separators that are allowed inside JSON strings.
    lines = enumerate(text.split("\n"), start=1)
    return [_observation(path, n, line, scope) for n, line in lines if line.strip()]


def _observation(path: Path, number: int, line: str, scope: str) -> Observation:
    try:
        fields: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise SourceFileError(f"{path.name}, line {number}: not valid JSON.") from None
    if not isinstance(fields, dict):
        raise SourceFileError(f"{path.name}, line {number}: must be a JSON object.")
    if fields.get("id") is None:
        content = json.dumps(fields, sort_keys=True, ensure_ascii=False)
        fields["id"] = "line_" + identity.digest(scope, content)[:32]
    try:
        return valid(Observation, **fields)
    except InvalidInputError as error:
        raise SourceFileError(
            f"{path.name}, line {number}: {error.message}", hint=error.hint
        ) from None
