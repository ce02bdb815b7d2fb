"""Terminal views of transfers, erasures, caches, the schema and settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from graphmem.cli.console import counted, counts, more, table
from graphmem.erasure import ErasurePage, ErasureReport, RemainingNode
from graphmem.integrity import BackfillReport, RebuildReport, SealReport, SealState
from graphmem.setting_files import DEFAULT, variable
from graphmem.transfer import ExportReport, ForeignImportReport, ImportReport, MoveReport
from graphmem.usage import ScopePage, TenantPage, TenantStats


def exported(done: ExportReport, file: Path) -> Group:
    """Return the number of exported records per label."""
    resumed = f" {done.resumed:,} are from an interrupted export." if done.resumed else ""
    until = f"{done.known:%Y-%m-%d %H:%M:%S %Z}"
    later = f" {done.later:,} nodes recorded later are not included." if done.later else ""
    rows = {**done.records, "relationships": done.links}
    return Group(
        counts("record", rows), f"{file} contains all records up to {until}.{resumed}{later}"
    )


def imported(done: ImportReport, tenant: str) -> str:
    """Return the number of imported records."""
    text = (
        f"{done.written:,} records of tenant {done.tenant} are now in {tenant}, "
        f"with {done.links:,} relationships."
    )
    if done.there or done.kept:
        text += f" {done.there:,} already existed; {done.kept:,} others differ and were kept."
    if done.erased:
        of = ", ".join(f"{label} {count:,}" for label, count in done.erased.items())
        text += f" {sum(done.erased.values()):,} were erased here and left out: {of}."
    if done.not_lifted:
        kept = ", ".join(f"{one.item_id or one.event_id} ({one.scope})" for one in done.not_lifted)
        text += f" {len(done.not_lifted):,} rejections that the file takes back stay: {kept}."
    return text


def moved(done: MoveReport) -> Group:
    """Return the plan or the result of a move."""
    name = f"tenant {done.tenant}"
    if done.gave_up:
        title = f"The copy of {name} at {done.address}:"
        note = "It is removed, and this server accepts writes again." if done.applied else ""
    elif done.repeated:
        title, note = f"Moved before: {name}, to {done.address}.", "Nothing was written."
    elif done.applied:
        title = f"Moved {name} to {done.address}:"
        note = (
            f"Both sides have the digest {done.digest}. Writes waited for {done.refused_s:,.1f} s. "
            "Open clients for the new server; erase the tenant here with `graphmem admin "
            "erase-tenant`."
        )
    else:
        title = f"Moving {name} to {done.address} would copy{' the rest of' * done.resumed}:"
        note = ""
    hint = "" if done.applied or done.repeated else "Nothing was written; use --apply."
    return Group(title, counts("node", done.records), " ".join(filter(None, (note, hint))))


def foreign_import(done: ForeignImportReport) -> Group:
    """Return what was imported, has no counterpart, or was refused."""
    unplaced = {f"no counterpart for {name}": count for name, count in done.unplaced.items()}
    rows = counts("record", {**done.done, **unplaced})
    notes = [
        f"Another of this name: {origin} is {name!r}." for origin, name in done.renamed.items()
    ]
    notes += [f"Several values at once, so MANY: {one}." for one in done.coexisting]
    return Group(rows, *notes, *(f"Refused: {line}" for line in done.refused))


def erasure(done: ErasureReport) -> RenderableType:
    """Return the plan or the result of an erasure."""
    name = f"{done.what} {done.id}"
    if done.repeated:
        return f"{name} was already erased; nothing remains."
    more = {"mentions": done.unmentioned, "digest lines": done.digest_lines}
    rows = counts("node", {**done.counts, **{label: n for label, n in more.items() if n}})
    if not done.applied:
        hint = "Nothing was written; use --apply."
        texts = (Text(f"- {one.label} {one.id}: {one.text}") for one in done.texts)
        title = f"Forgetting {name} would erase:"
        return Group(title, rows, *texts, *_remaining(done), hint)
    check = Text("The final check found no remaining data.")
    if not done.clean:
        check = Text(f"{done.left:,} nodes remain.", style="red")
    lines: list[RenderableType] = [f"Forgot {name}:", rows, check, *_remaining(done)]
    if done.certificate is not None:
        lines.append(f"Certificate {done.certificate.id}. May still hold it:")
        lines += [f"- {one.place}: until {one.until}." for one in done.certificate.residues]
    return Group(*lines)


def _remaining(done: ErasureReport) -> list[RenderableType]:
    """Return the line about nodes that have the same text or name the person."""
    lines: list[RenderableType] = []
    if done.elsewhere:
        found = _nodes(done.elsewhere, done.mentions or 0)
        lines.append(
            f"Named in: {found}. --include-mentions erases these, turns with their episode."
            if done.what == "person"
            else f"The same text remains in: {found}"
        )
    if done.possible:
        found = _nodes(done.possible, done.possible_mentions)
        lines.append(f"Perhaps named, by a part of the name, in: {found}. Look at these yourself.")
    return lines


def _nodes(shown: Sequence[RemainingNode], count: int) -> str:
    rest = count - len(shown)
    named = ", ".join(f"{node.label} {node.id}" for node in shown)
    return f"{named} and {rest:,} more" if rest else named


def erasures(found: ErasurePage) -> Group:
    """Return a page of the records of erasures."""
    rows = table("time", "erased", "nodes", "asked by", "reason", "digest")
    for one in found.erasures:
        nodes = f"{sum(one.counts.values()):,}"
        time = f"{one.erased_at:%Y-%m-%d %H:%M:%S}"
        rows.add_row(time, one.what, nodes, one.actor or "", one.reason or "", one.digest[:16])
    return Group(rows, *more(found.next_cursor))


def stats(found: TenantStats) -> Group:
    """Return the numbers of nodes of a tenant, its waiting work and the cost of consolidation."""
    tiers = Counter[str]()
    for step in found.ratings:
        tiers[step.tier] += step.items
    states: dict[str, Mapping[Any, int]] = {
        "memories": found.memories,
        "beliefs": found.beliefs,
        "events": found.events,
        "ratings": tiers,
    }
    rows = table("nodes", "status, type or tier", "count")
    for kind, by_state in states.items():
        for state, count in by_state.items():
            if count:
                rows.add_row(kind, str(state), f"{count:,}")
    for kind in ("episodes", "turns", "artifacts", "archives"):
        rows.add_row(kind, "", f"{getattr(found, kind):,}")
    work = found.consolidation
    waiting = {
        "sessions to rate": found.unrated,
        "beliefs to embed": found.unembedded,
        "episodes to consolidate": work.fresh,
        "clusters to retry": work.undecided,
    }
    tokens = f"{work.tokens_in:,} + {work.tokens_out:,} tokens"
    cost = (
        f"Consolidation of {work.decided:,} clusters: {work.calls:,} requests, {tokens}, "
        f"{work.cost_usd:.4f} USD; {work.failures:,} failed attempts."
    )
    return Group(
        f"Tenant {found.tenant}", rows, "", counts("waiting", waiting), "", cost, *_failing(found)
    )


def _failing(found: TenantStats) -> Iterator[RenderableType]:
    """Yield a table of the units that background jobs skip, if there are any."""
    if not found.failing:
        return
    rows = table("job", "scope", "session or item", "attempts", "next", "reason")
    for one in found.failing:
        time = f"{one.due_at:%Y-%m-%d %H:%M:%S}"
        rows.add_row(one.job, one.scope, one.unit, str(one.failures), time, one.reason)
    yield ""
    yield rows


def stored(found: TenantPage | ScopePage) -> Group:
    """Return a page of tenants or scopes with their sizes."""
    kind, entries = (
        ("tenant", found.tenants) if isinstance(found, TenantPage) else ("scope", found.scopes)
    )
    if not entries:
        return Group(Text(f"No {kind}s.", style="dim"), *more(found.next_cursor))
    rows = table(kind, "memories", "beliefs", "episodes", "item namespaces")
    for column in rows.columns[1:]:
        column.justify = "right"
    for entry in entries:
        sizes = (entry.memories, entry.beliefs, entry.episodes, entry.namespaces)
        rows.add_row(entry.name, *(f"{size:,}" for size in sizes))
    return Group(rows, *more(found.next_cursor))


def mismatches(found: RebuildReport) -> RenderableType:
    """Return what differs from the events, or from the seals."""
    lines: list[RenderableType] = ["Every cache matches its events."]
    if found.wrong:
        rows = table("kind", "id", "stored", "found")
        for mismatch in found.wrong:
            rows.add_row(mismatch.kind, mismatch.id, mismatch.cached, mismatch.found)
        lines = [rows]
    return Group(*lines, *_seals(found.seals))


def sealed_export(found: RebuildReport) -> RenderableType:
    """Return the events and seals of a file that differ."""
    if found.wrong:
        return mismatches(found)
    return Group("The file is whole.", *_seals(found.seals))


def _seals(found: SealState | None) -> Iterator[str]:
    if found is None:
        return
    if found.until is None:
        yield f"No seals; {found.unsealed:,} events can be sealed: `graphmem admin seal`."
        return
    late = f" {found.late:,} were sealed late." if found.late else ""
    yield (
        f"{counted(found.sealed, 'event')} as in {counted(found.seals, 'seal')}, until "
        f"{found.until:%Y-%m-%d %H:%M:%S %Z}.{late} {found.erased:,} entries were erased or "
        f"redacted; {found.unsealed:,} events have no seal yet."
    )
    yield f"Head: {found.head}"
    if found.asked_in:
        yield f"The digest to compare with is that of seal {found.asked_in}."


def sealed(done: SealReport) -> RenderableType:
    """Return the number of sealed events, and the digest to keep."""
    if done.head is None:
        return "Nothing to seal."
    return Group(
        f"{counted(done.events, 'event')} sealed in {counted(done.seals, 'seal')}, until "
        f"{done.until:%Y-%m-%d %H:%M:%S %Z}. Keep this digest elsewhere:",
        done.head,
    )


def backfill(made: BackfillReport) -> Group:
    """Return the number of backfilled memories, and the memories that were skipped."""
    lines: list[RenderableType] = [
        f"Events created for {counted(made.memories, 'memory', 'memories')}."
        if made.memories
        else "Nothing to backfill."
    ]
    if made.skipped:
        rows = table("skipped", "problem", "what to do", "examples")
        for group in made.skipped:
            rows.add_row(f"{group.count:,}", group.problem, group.hint, ", ".join(group.ids))
        lines.append(rows)
    return Group(*lines)


def schema_check(found: Mapping[str, Sequence[Any]]) -> RenderableType:
    """Return pending migrations and differences of the schema."""
    if not any(found.values()):
        return "The schema is current and matches its declaration."
    rows = table("finding", "name", "detail")
    for name in found["pending"]:
        rows.add_row("pending", name, "run `graphmem admin migrate`")
    for difference in found["differences"]:
        rows.add_row(difference.kind, difference.name, difference.text)
    return rows


def settings(known: Mapping[str, Any], fields: Mapping[str, Any]) -> RenderableType:
    """Return every setting with its value, the place that it is from, and its description."""
    lines = []
    for name, field in fields.items():
        value, origin = known[name]["value"], known[name]["origin"]
        line = Text(variable(name), style="bold")
        line.append(f"  {'not set' if value is None else value}", style="not bold")
        if origin != DEFAULT:
            line.append(f"  from {origin}", style="not bold yellow")
        lines.append(
            line.append(f"\n  {' '.join(field.description.split())}", style="not bold dim")
        )
    return Group(*lines)


def cypher(found: Sequence[Mapping[str, str]]) -> RenderableType:
    """Return every procedure of the catalog with its mode."""
    rows = table("name", "mode", "result")
    for each in found:
        rows.add_row(each["name"], each["mode"], each["summary"].split(". ")[0])
    return rows


def procedures(found: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Return every procedure of the plugin with its signature."""
    rows = table("CALL; arguments in brackets are optional")
    rows.add_column("result", ratio=1)
    for each in found:
        rows.add_row(each["signature"], each["summary"].split(". ")[0])
    return rows
