"""Terminal views of slots, beliefs, tests, policies and aliases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from graphmem import model
from graphmem.cli.console import counted, day, fields, more, number, shortened, signed, table
from graphmem.cli.views import memory as memory_views
from graphmem.cli.views.memory import MARKS, rejected

COLOURS = {
    model.VerdictStatus.ACCUMULATING: "default",
    model.VerdictStatus.PROMOTED: "green",
    model.VerdictStatus.DEMOTED: "red",
}
MAX_QUOTE = 200
"""Characters of a quote that are shown."""
SIGNS = {model.EvidenceKind.SUPPORTING: ("+", "green"), model.EvidenceKind.REFUTING: ("−", "red")}

ORIGINS = {
    model.PolicyOrigin.GIVEN: "as requested",
    model.PolicyOrigin.DECLARED: "declared",
    model.PolicyOrigin.BUILT_IN: "built-in list",
    model.PolicyOrigin.DEFAULT: "the default",
}
"""Words for why a policy was used."""


def sign(kind: model.EvidenceKind) -> Text:
    """Return the mark of supporting or refuting evidence."""
    mark, colour = SIGNS[kind]
    return Text(mark, style=colour)


def verdict(found: model.Verdict) -> Text:
    """Return the status of a test and whether a revision is due."""
    line = Text(str(found.status), style=COLOURS[found.status])
    if found.revise_due:
        line.append("  revise due", style="yellow")
    return line


def policy(found: model.Policy) -> str:
    """Return a one-line summary of a policy."""
    parts = [str(found.cardinality)]
    if found.cardinality is model.Cardinality.ONE:
        tau = "∞" if found.tau_days is None else f"{found.tau_days:g} days"
        parts += [f"κ {found.kappa:g}", f"τ {tau}", f"margin {found.margin:g}"]
    else:
        parts.append(str(found.combine))
    if found.decay_per_day:
        parts.append(f"decay {found.decay_per_day:g} a day")
    return ", ".join(parts)


def slot(found: model.Slot, leader: model.Belief | None) -> RenderableType:
    """Return the candidates of a slot, best first; `leader` is the belief of the slot's leader."""
    if not found.candidates:
        others = ", ".join(found.nearest or found.nearest_subjects)
        near = f" Nearest: {others}." if others else ""
        return Text(f"No beliefs about {found.subject} {found.predicate}.{near}", style="dim")
    head = Text(f"{found.subject} {found.predicate}", style="bold")
    why = ORIGINS[found.policy_origin] + (f" in {found.policy_scope}" if found.policy_scope else "")
    head.append(f"   {policy(found.policy)} ({why})", style="dim not bold")
    rows = table("", "", "belief", "", "", whole=("belief",))
    rows.show_header = False
    for place, candidate in enumerate(found.candidates, 1):
        led = leader if found.leader is candidate else None
        rows.add_row(str(place), *_candidate(candidate, led))
    lines: list[RenderableType] = [head, rows]
    if found.names:
        lines.append(Text(f"includes the aliases: {', '.join(found.names)}", style="dim"))
    if found.ambiguous:
        lines.append(Text("The two best values are too close to call.", style="yellow"))
    if found.total > len(found.candidates):
        lines.append(Text(f"{found.total - len(found.candidates)} more: --limit", style="dim"))
    first = found.leader or found.candidates[0]
    lines.append(Text(f"why: graphmem why {first.belief_id}", style="dim"))
    return Group(*lines)


def _candidate(found: model.Candidate, leader: model.Belief | None) -> tuple[RenderableType, ...]:
    mark = Text("●", style="green") if leader else Text("○", style="dim")
    what = Text(found.object)
    if found.status != model.Status.CURRENT:
        what.append(f"  {found.status}", style="yellow")
    marks = [name for name in ("ambiguous", "contested") if getattr(found, name)]
    if found.trust not in (None, "person"):
        marks.append(f"trust {found.trust}")
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


def _counts(found: model.Candidate) -> str:
    if found.supporting_episodes is None:
        return counted(found.events, "event")
    return f"{counted(found.supporting_episodes, 'episode')} for, {found.refuting_episodes} against"


def page(found: model.BeliefPage) -> Group:
    """Return beliefs, two lines each, and the cursor of the next page."""
    lines: list[RenderableType] = [_belief_lines(item) for item in found.beliefs]
    if not lines:
        lines.append(Text("No beliefs.", style="dim"))
    return Group(*lines, *more(found.next_cursor))


def _belief_lines(found: model.Belief) -> Text:
    line = headline(found).append_text(memory_views.vouched(found.trust))
    return line.append(f"\n  {found.id}   {_sides(found)}", style="dim")


def headline(found: model.Belief) -> Text:
    """Return the statement of a belief, its value and the status of its test."""
    mark, colour = MARKS[model.Status(found.status)]
    line = Text(f"{mark} ", style=colour)
    line.append(found.statement, style="default")
    line.append(f"   {number(found.belief)}   ", style="bold")
    line.append_text(verdict(found.verdict))
    if found.contested:
        line.append("  contested", style="yellow")
    if found.status != model.Status.CURRENT:
        line.append(f"  {found.status}", style="yellow")
    flagged_at = found.vitality.flagged_at if found.vitality else None
    return line.append(f"  flagged since {day(flagged_at)}", style="yellow") if flagged_at else line


def _sides(found: model.Belief) -> str:
    episodes = counted(found.supporting_episodes, "episode")
    sides = f"{episodes} for, {found.refuting_episodes} against, first {day(found.created_at)}"
    return f"{sides}{f', retrieval {number(found.vitality.retrieval)}' if found.vitality else ''}"


def belief(found: model.Belief) -> Group:
    """Return one belief in full."""
    test = f"{found.verdict.status}, log ratio {number(found.verdict.log_ratio, 3)}"
    supporting = counted(found.supporting_episodes, "episode")
    refuting = counted(found.refuting_episodes, "episode")
    rows = {
        "belief": number(found.belief, 4),
        "before evidence": number(found.initial_confidence),
        "for": f"P+ {number(found.positive, 4)}, {supporting}",
        "against": f"P− {number(found.negative, 4)}, {refuting}",
        "test": f"{test}, {counted(found.verdict.evidence, 'piece')}",
        "its confidence": number(found.verdict.confidence),
        "trust": found.trust or "",
        **(dict(_vitality(found.vitality)) if found.vitality else {}),
        "triple": " | ".join(filter(None, (found.subject, found.predicate, found.object))),
        "first": found.created_at.isoformat(),
        "depth": f"{found.depth}, generalises other beliefs" if found.depth else "",
        "scope": found.scope,
        "id": found.id,
        "why": f"graphmem why {found.id}",
    }
    return Group(headline(found), fields(rows))


def _vitality(found: model.Vitality) -> Iterator[tuple[str, str]]:
    stability = f"S {counted(round(found.stability_days), 'day')}"
    accessed = day(found.last_access_at) if found.last_access_at else "never"
    yield "retrieval", f"R {number(found.retrieval)}, {stability}, last accessed: {accessed}"
    yield "storage", f"{counted(found.storage, 'piece')}, importance {number(found.importance)}"
    precision = f"precision {number(found.precision)}"
    yield "mean", f"{number(found.mean, 4)}, {precision}, gate {number(found.gate)}"
    yield "inferred", "only by consolidation" if found.derived else ""


def trail(found: model.Trail) -> Group:
    """Return a sequential test piece by piece, and its status."""
    names = ("#", "when", "", "s", "llr", "sum", "test", "conf.")
    rows = table(*names, whole=names)
    for place, line in enumerate(found.lines, 1):
        rows.add_row(
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
    return Group(rows, standing(found), "", *origins, *more(found.next_cursor))


def origin(place: int, piece: model.TrailStep | model.EvidenceDetail, role: str = "") -> Text:
    """Return the origin and the role of a piece of evidence."""
    if isinstance(piece, model.TrailStep) and piece.supposed:
        return Text(f"#{place}  supposed", style="dim")
    parts = [f"#{place}  {piece.event_id}", piece.source_type, role]
    parts.append(None if piece.trust == "person" else f"trust {piece.trust}")
    for name, value in (("episode", piece.episode_id), ("turn", piece.turn_id)):
        parts.append(f"{name} {value}" if value else None)
    quote = None
    if isinstance(piece, model.EvidenceDetail):
        parts.append(f"memory {piece.memory_id}" if piece.memory_id else None)
        quote = piece.quote
    line = Text("  ".join(filter(None, [*parts, piece.note])), style="dim")
    return line.append(f'\n    "{shortened(quote, MAX_QUOTE)}"', style="not dim") if quote else line


def standing(found: model.Trail) -> Text:
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


def recorded(done: model.EvidenceReceipt) -> Text:
    """Return the receipt of one piece of evidence, with warnings."""
    line = Text("already recorded" if done.repeated else "recorded", style="green")
    line.append(f"   {done.belief_id}   event {done.event_id}", style="default")
    if done.clamped and done.strength is not None:
        line.append(f"\ncounted with strength {done.strength:g}", style="yellow")
    if done.rejection:
        line.append(f"\nstays {rejected(done.rejection)}", style="yellow")
    if done.counts_against:
        line.append("\na strength below 0.5 counts as evidence of the other kind", style="yellow")
    return line


def added(done: model.EvidenceReceipt, test: model.Trail) -> Group:
    """Return the receipt of evidence and the state of the test after it."""
    return Group(recorded(done), standing(test))


def imported(counts: Mapping[str, int]) -> Text:
    """Return the totals of an import of observations."""
    line = Text(f"{counted(counts['recorded'], 'observation')} recorded", style="green")
    line.append(f" about {counted(counts['beliefs'], 'belief')}", style="default")
    if counts["repeated"]:
        line.append(f"; {counts['repeated']} were already recorded", style="dim")
    return line


def replaced(done: model.ReplacementReceipt) -> Text:
    """Return the ids of the new and the replaced beliefs."""
    newer, older = ", ".join(done.newer_ids), ", ".join(done.older_ids)
    return Text(f"{newer} replaces\n{older}\nevent {done.event_id}")


def predicates(found: Sequence[model.Predicate]) -> RenderableType:
    """Return the declared policies."""
    if not found:
        return Text(f"No policy is declared; default: {policy(model.Policy())}.", style="dim")
    rows = table("predicate", "scope", "policy", "declared", "applies from", "template")
    for item in found:
        start = "always" if item.valid_from is None else day(item.valid_from)
        declared = day(item.occurred_at)
        told = policy(item.policy), declared, start, item.template or ""
        rows.add_row(item.name, item.scope, *told)
    return rows


def aliases(found: Sequence[model.Alias]) -> RenderableType:
    """Return the table of aliases."""
    if not found:
        return Text("No aliases.", style="dim")
    rows = table("name", "alias of", "scope", "since")
    for each in found:
        rows.add_row(each.name, each.same_as, each.scope, day(each.occurred_at))
    return rows


def alias(done: model.Alias) -> str:
    """Return the receipt of an alias that was added or removed."""
    state = f"an alias of {done.same_as}" if done.same_as else "no longer an alias"
    return f"{done.name} is {state} in scope {done.scope}.\nevent {done.event_id}"


def retracted(done: model.RetractionReceipt) -> str:
    """Return the receipt of a retraction."""
    if done.proposed:
        return f"A person decides whether to retract {done.target_id}: proposal {done.event_id}."
    return f"{done.target_id} is retracted by {done.event_id}."


def status(done: model.StatusReceipt) -> str:
    """Return the status of a belief after a change."""
    return _changed(done, done.status)


def flag(done: model.StatusReceipt) -> str:
    """Return whether a belief is flagged after a change."""
    return _changed(done, "flagged" if done.flagged else "not flagged")


def _changed(done: model.StatusReceipt, state: str) -> str:
    unchanged = "" if done.changed else "Nothing changed. "
    return f"{unchanged}{done.belief_id} is {state}.\nevent {done.event_id}"


def slots(found: model.SlotPage) -> Group:
    """Return a page of slots with their best candidates."""
    rows = table("subject", "predicate", "best", "others")
    for each in found.slots:
        values = [f"{value.object} {number(value.belief)}" for value in each.candidates]
        others = ", ".join(values[1:]) + ("  ambiguous" if each.ambiguous else "")
        rows.add_row(each.subject, each.predicate, "".join(values[:1]), Text(others, style="dim"))
    shown = rows if found.slots else Text("No slots.", style="dim")
    return Group(shown, *more(found.next_cursor))


def flip_set(found: model.FlipSet) -> Text:
    """Return the evidence that decides a test."""
    if found.event_ids is None:
        return Text(f"{found.status}, even without any of {counted(found.evidence, 'piece')}.")
    lines = Text(f"{found.status}; without ")
    lines.append(f"{len(found.event_ids)} of {counted(found.evidence, 'piece')}", style="bold")
    lines.append(f" the test is {found.becomes}:")
    for event_id in found.event_ids:
        lines.append(f"\n  {event_id}", style="dim")
    return lines


def chain(found: model.BeliefChain) -> Group:
    """Return the beliefs that replaced one another."""
    newer = {link.older_id: link for link in found.links if link.in_force}
    lines = []
    for card in found.beliefs:
        is_head = card.id in found.head_ids
        line = Text("● " if is_head else "○ ", style="green" if is_head else "yellow")
        line.append(card.statement, style="default")
        line.append(f"\n  {card.id}   since {day(card.created_at)}", style="dim")
        if card.id in newer:
            link = newer[card.id]
            line.append(f"   replaced {day(link.occurred_at)} by {link.newer_id}", style="dim")
        lines.append(line)
    return Group(*lines)


def history(events: Sequence[model.MemoryEvent]) -> Group:
    """Return the events of a belief, one per row, then their ids and notes."""
    names = ("#", "when", "", "event", "source", "trust", "c", "s")
    rows = table(*names, whole=names)
    ids = []
    for place, event in enumerate(events, 1):
        if isinstance(event, model.BeliefEvent):
            rows.add_row(
                str(place),
                f"{event.occurred_at:%Y-%m-%d %H:%M}",
                sign(event.kind) if event.kind else "",
                event.type,
                event.source_type or event.source or "",
                event.trust or "",
                "" if event.confidence is None else number(event.confidence),
                "" if event.strength is None else number(event.strength),
            )
            note = str(event.payload.get("note") or "")
            ids.append(Text("  ".join(filter(None, (f"#{place}", event.id, note))), style="dim"))
    return Group(rows, "", *ids)


def provenance(found: model.Provenance) -> Group:
    """Return the events of a belief, the turns that they quote, and its memories."""
    lines: list[RenderableType] = [Text(found.belief.statement, style="bold")]
    lines.append(history(found.events))
    lines += [Text(f"» {t.name or t.role}: {t.text}   {t.id}") for t in found.turns]
    lines += [Text(f"in {e.session_id or 'episode'}, {e.id}", style="dim") for e in found.episodes]
    lines += [Text(f"generalises {p.statement}   {p.belief_id}") for p in found.derived_from]
    lines.append(memory_views.memories(found.memories))
    for word, links in (("replaces", found.supersedes), ("replaced by", found.superseded_by)):
        for link in links:
            other = link.older_id if word == "replaces" else link.newer_id
            lines.append(Text(f"{word} {other} on {day(link.occurred_at)}", style="yellow"))
    return Group(*lines)
