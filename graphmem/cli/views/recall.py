"""Terminal views of recall results and explanations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from graphmem import model
from graphmem.cli.console import counted, day, more, number, signed, table
from graphmem.cli.views import belief as belief_views
from graphmem.cli.views import memory as memory_views
from graphmem.cli.views.belief import COLOURS, sign

MAX_ADDENDS = 6
"""Longest sum that is written out term by term."""


def recollection(found: model.Recollection) -> RenderableType:
    """Return the recall results, in their order, with their score and notes."""
    if not found.bites:
        return Text(f"No results: {found.reason}.", style="dim")
    lines = [_bite(place, bite) for place, bite in enumerate(found.bites, 1)]
    if found.reason or found.left_out:
        noise = f"{counted(found.left_out, 'more result')} left out as noise; --limit shows them"
        lines.append(Text(f"{found.reason or noise}.".capitalize(), style="dim"))
    return Group(*lines)


def _bite(place: int, bite: model.AnyBite) -> Text:
    line = Text(f"{place:>2} ")
    match bite:
        case model.MemoryBite():
            notes = _memory(line, bite)
        case model.BeliefBite():
            notes = _belief(line, bite)
        case model.EpisodeBite():
            notes = []
            line.append("▣ ", style="magenta")
            line.append(f"{bite.text}   ").append(day(bite.episode.occurred_at), style="dim")
        case _:
            notes = []
            line.append("» ", style="blue")
            line.append(f"{bite.turn.name or bite.turn.role}: ", style="bold")
            line.append(f"{bite.text}   ").append(day(bite.turn.occurred_at), style="dim")
    if bite.trust != "person":
        notes.append(f"trust: {bite.trust}")
    if bite.outdated_by is not None:
        notes.append(f"outdated by: {bite.outdated_by}")
    if bite.covers:
        notes.append(f"covers: {', '.join(bite.covers)}")
    line.append(f"\n     {'   '.join(_score(bite))}", style="dim")
    for note in notes:
        line.append(f"\n     {note}", style="yellow")
    return line


def _memory(line: Text, bite: model.MemoryBite) -> list[str]:
    mark, colour = memory_views.MARKS[bite.memory.status]
    line.append(f"{mark} ", style=colour).append(f"{bite.text}   ", style="default")
    line.append(memory_views.seen(bite.memory), style="dim")
    notes = []
    if bite.memory.head_ids:
        notes.append(f"now: {', '.join(bite.memory.head_ids)}")
    if bite.memory.lost_ids:
        notes.append(f"beliefs no longer held: {', '.join(bite.memory.lost_ids)}")
    return notes


def _belief(line: Text, bite: model.BeliefBite) -> list[str]:
    found = bite.belief
    mark, colour = ("○", "yellow") if bite.lost else ("●", "green")
    line.append(f"{mark} ", style=colour).append(f"{bite.text}   ", style="default")
    line.append(f"{number(found.belief)}  ")
    line.append_text(belief_views.verdict(found.verdict))
    episodes = counted(found.supporting_episodes, "episode")
    newest = f", newest {day(bite.last_at)}" if bite.last_at else ""
    line.append(f"   {episodes} for{newest}", style="dim")
    notes = [_other(other, bite) for other in bite.others]
    if bite.ambiguous:
        notes.append("too close to call")
    if found.status == model.Status.ARCHIVED:
        notes.append(f"archived: graphmem belief restore {found.id}")
    if found.status == model.Status.REJECTED:
        notes.append(f"rejected by a person: graphmem why {found.id}")
    if bite.head_ids:
        notes.append(f"now: {', '.join(bite.head_ids)}")
    return notes


def _other(other: model.OtherValue, shown: model.BeliefBite) -> str:
    word, when = ("was", "last stated") if shown.came_after(other) else ("also stated:", "newest")
    word = "earlier:" if shown.assumed_many else word
    value = f"{word} {other.object}, {when} {day(other.last_at)}"
    return f"{value}   {number(other.belief)}   why: graphmem why {other.belief_id}"


def _score(bite: model.AnyBite) -> list[str]:
    parts = [bite.id, f"score {bite.score:.3f}"]
    if bite.similarity is not None:
        parts.append(f"vector {bite.similarity:.2f} (#{bite.vector_rank})")
    if bite.bm25 is not None:
        parts.append(f"bm25 {bite.bm25:.1f} (#{bite.bm25_rank})")
    if isinstance(bite, model.MemoryBite):
        parts.append(f"trace {bite.trace:.2f}")
    return parts


def reasons(found: model.BeliefReasons | model.MemoryReasons) -> RenderableType:
    """Return the explanation of a belief or the origin of a memory."""
    if isinstance(found, model.MemoryReasons):
        return _memory_reasons(found)
    parts: list[RenderableType] = [belief_views.headline(found.belief), _policy(found.policy)]
    parts.append(_trust(found.trust))
    if found.pieces:
        parts += ["", _arithmetic(found), ""]
    if found.rejection:
        parts.append(Text(memory_views.rejected(found.rejection), style="red"))
    parts += [Text(line) for line in _sums(found)]
    parts += [_test(found), *_around(found)]
    if found.pieces:
        places = {piece.event_id: n for n, piece in enumerate(found.pieces, found.start + 1)}
        parts.append("")
        for piece in found.pieces:
            role = _role(piece, places, found.competition)
            parts.append(belief_views.origin(places[piece.event_id], piece, role))
    return Group(*parts, *more(found.next_cursor))


def _memory_reasons(found: model.MemoryReasons) -> RenderableType:
    parts: list[RenderableType] = [
        memory_views.memory(found.memory),
        _trust(found.trust),
        "",
        memory_views.history(found.history),
    ]
    if found.rejection:
        parts.insert(1, Text(memory_views.rejected(found.rejection), style="red"))
    parts += ["", _trace(found.trace)]
    if found.chain.links:
        parts += ["", memory_views.chain(found.chain)]
    return Group(*parts)


def _trust(trust: model.Trust) -> Text:
    return Text(f"trust: {trust}", style="dim" if trust == "person" else "yellow")


def _trace(found: model.Trace) -> RenderableType:
    """Return the contribution of each statement of a memory to its recall weight."""
    rows = table("stated", "recency", "burst", "spacing", "adds")
    for column in rows.columns[1:]:
        column.justify = "right"
    for statement in found.sayings:
        adds = statement.recency * statement.burst * statement.spacing
        factors = (statement.recency, statement.burst, statement.spacing, adds)
        numbers = (number(x, 3) for x in factors)
        rows.add_row(f"{statement.at:%Y-%m-%d %H:%M}", *numbers)
    left_out = found.total - len(found.sayings)
    older = f", {left_out} older not shown" if left_out else ""
    total = f"trace {number(found.trace, 3)}{older}: recall multiplies the similarity by "
    return Group(rows, Text(f"{total}{number(found.factor, 3)}", style="dim"))


def _policy(read: model.PolicyRead) -> Text:
    where = belief_views.ORIGINS[read.origin]
    if read.declared_at is not None:
        where = f"declared {day(read.declared_at)} by {read.event_id}"
    return Text(f"read as {belief_views.policy(read.policy)} ({where})", style="dim")


def _arithmetic(found: model.BeliefReasons) -> Table:
    """Return one row per piece of evidence: its effect on the belief, then on the test."""
    competes, fades = found.competition is not None, bool(found.policy.policy.decay_per_day)
    effect = "w·c" if competes else "adds"
    # At most 80 columns wide: origins and roles follow below.
    names = ["#", "when", "", "w", "c", *(["faded"] if fades else []), effect]
    names += ["s", "llr", "sum", "test"]
    rows = table(*names, whole=names)
    for name in ("w", "c", "faded", effect, "s", "llr", "sum"):
        for column in rows.columns:
            if column.header == name:
                column.justify = "right"
    for place, piece in enumerate(found.pieces, found.start + 1):
        faded = [number(piece.faded)] if fades else []
        value = number(piece.score if competes else piece.log_weight, 3)
        rows.add_row(
            str(place),
            f"{piece.occurred_at:{'%Y-%m-%d' if fades else '%Y-%m-%d %H:%M'}}",
            sign(piece.kind),
            number(piece.weight, 1),
            number(piece.confidence),
            *faded,
            value if competes or piece.counts else f"({value})",
            number(piece.strength),
            signed(piece.llr),
            signed(piece.log_ratio),
            Text(str(piece.status), style=COLOURS[piece.status]),
        )
    return rows


def _role(
    piece: model.EvidenceDetail, places: dict[str, int], competition: model.Competition | None
) -> str:
    if competition is not None:
        return "last affirmation" if piece.event_id == competition.affirmed_id else ""
    if piece.echo_of is None:
        return ""
    place = places.get(piece.echo_of)
    return f"echo of {f'#{place}' if place else piece.echo_of}"


def _sums(found: model.BeliefReasons) -> Iterator[str]:
    """Yield the lines of the computation of the belief."""
    if found.start or len(found.pieces) < found.total:
        last = found.start + len(found.pieces)
        yield f"pieces {found.start + 1} to {last} of {found.total}; the sums include all of them"
    if found.competition is not None:
        yield from _competed(found.competition, found.policy.policy.decay_per_day)
        return
    belief = found.belief
    if not found.total:
        yield f"belief   {number(belief.initial_confidence, 4)}, the confidence before any evidence"
        return
    for name, letter, kind, log, value in (
        ("for", "+", model.EvidenceKind.SUPPORTING, found.log_positive, belief.positive),
        ("against", "−", model.EvidenceKind.REFUTING, found.log_negative, belief.negative),
    ):
        parts = [number(p.log_weight, 3) for p in found.pieces if p.counts and p.kind is kind]
        whole = len(found.pieces) == found.total and 1 < len(parts) <= MAX_ADDENDS
        added = f"−({' + '.join(parts)}) = " if whole else ""
        yield (
            f"{name:<8} L{letter} = {added}{number(0.0 + log, 3)}"
            f"   P{letter} = 1 − e^L{letter} = {number(value, 4)}"
        )
    yield f"belief   {_joined(found)} = {number(belief.belief, 4)}"


def _joined(found: model.BeliefReasons) -> str:
    if found.policy.policy.combine is model.Combine.NET:
        return f"max(0, {number(found.belief.positive, 4)} − {number(found.belief.negative, 4)})"
    return f"1 / (1 + e^({number(found.log_positive, 3)} − ({number(found.log_negative, 3)})))"


def _competed(result: model.Competition, decay_per_day: float) -> Iterator[str]:
    place = f"place {result.place} of {result.of}"
    if result.affirmed_at is None:
        yield f"belief   0: never affirmed; {place}"
        return
    factors = [number(result.affirmed, 4)]
    if result.refutations:
        factors.append(number(result.refuted, 4))
    if result.affirmations_of_others:
        factors.append(f"e^(−{result.kappa:g} × {number(result.pressure, 4)})")
    if decay_per_day:
        factors.append(f"{number(result.fading, 4)} (faded)")
    close = ", too close to call" if result.ambiguous else ""
    yield f"belief   {' × '.join(factors)} = {number(result.belief, 4)}   {place}{close}"
    history = [f"affirmed {day(result.affirmed_at)}"]
    if result.refutations:
        history.append(f"refuted since by {counted(result.refutations, 'piece')}")
    if result.affirmations_of_others:
        others = ", ".join(f"{rival.object} ({rival.events})" for rival in result.other_candidates)
        times = counted(result.affirmations_of_others, "time")
        history.append(f"others affirmed since {times}: {others}")
    yield f"         {'; '.join(history)}"


def _test(found: model.BeliefReasons) -> Text:
    result, start = found.belief.verdict, found.belief.initial_confidence
    parts = [signed(piece.llr) for piece in found.pieces]
    whole = len(parts) == found.total and 1 < len(parts) <= MAX_ADDENDS
    added = f"{' '.join(parts)} = " if whole else ""
    line = Text(f"test     {added}{signed(result.log_ratio)}: ")
    line.append_text(belief_views.verdict(result))
    return line.append(f"; confidence {number(start)} → {number(result.confidence)}")


def _around(found: model.BeliefReasons) -> Iterator[Text]:
    """Yield parts, retracted evidence, replacements, aliases and asserting memories."""
    for part in found.derived_from:
        yield Text(f"generalises: {part.statement} ({part.belief_id})", style="dim")
    for piece in found.retracted:
        mark = "+" if piece.kind is model.EvidenceKind.SUPPORTING else "−"
        yield Text(
            f"retracted: {mark} {piece.source_type} {number(piece.confidence)} of "
            f"{day(piece.occurred_at)}, {piece.event_id}, by {piece.retraction_id}"
            + (f": {piece.note}" if piece.note else ""),
            style="yellow",
        )
    yield from _replacements("replaces", found.replaces)
    yield from _replacements("replaced by", found.replaced_by)
    for same in found.alias_beliefs:
        yield Text(
            f"same under an alias: {same.statement} ({same.belief_id}, {same.events} pieces)",
            style="dim",
        )
    for basis in found.memories:
        yield Text(f"asserted by {basis.memory_id}: {basis.content}", style="dim")


def _replacements(word: str, links: Sequence[model.Replacement]) -> Iterable[Text]:
    for link in links:
        why = f": {link.note}" if link.note else ""
        yield Text(
            f"{word} {link.statement} ({link.belief_id}) since {day(link.occurred_at)}{why}",
            style="yellow",
        )
