"""Erase an item, a person, a scope or the tenant: what would go, what stays, and the receipt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, TypeAlias, get_args

from graphmem.erasure import ErasureReport, ErasureTarget
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.explorer.reader import Asked, Reader
from graphmem.model import Belief, Episode, Memory, Turn

What: TypeAlias = Literal["item", "person", "scope", "tenant"]
WORD = "erase"
"""Word that confirms the erasure of an item; that of others is confirmed by their name."""
RECORDS = 50
TARGETS: Mapping[type, ErasureTarget] = {
    Memory: ErasureTarget.MEMORY,
    Belief: ErasureTarget.BELIEF,
    Episode: ErasureTarget.EPISODE,
    Turn: ErasureTarget.TURN,
}
WHOLE = ("person", "tenant")
"""Targets that concern all scopes."""


@dataclass(frozen=True)
class Erasing:
    """An erasure that a person asks for."""

    what: What
    name: str
    """Id of the item, or name."""
    mentions: bool
    """Whether texts that only name the person are erased with it."""
    reason: str

    @property
    def confirmation(self) -> str:
        """Text that a person types to confirm it."""
        return WORD if self.what == "item" else self.name

    @property
    def query(self) -> dict[str, str]:
        """Parameters of the address of its plan."""
        more = {"mentions": "1"} if self.mentions else {}
        return {"what": self.what, "id": self.name, **more}


def asked_for(reader: Reader, asked: Asked) -> Erasing | None:
    """Return the erasure that a page is about; None if none is chosen.

    Raises:
        MissingRightError: the key does not grant it.
        InvalidInputError: the kind is unknown, or the reason too long.
    """
    reader.need("read", "erase")
    what: Any = asked.text("what") or "item"
    if what not in get_args(What):
        raise InvalidInputError(f"what: must be one of {', '.join(get_args(What))}.")
    if what in WHOLE:
        reader.need_tenant()
    name = {"scope": reader.scope, "tenant": reader.tenant}.get(what, asked.text("id"))
    mentions = what == "person" and bool(asked.text("mentions"))
    return Erasing(what, name, mentions, asked.short("reason")) if name else None


async def run(reader: Reader, wanted: Erasing, *, dry_run: bool) -> ErasureReport:
    """Erase, or return what would be erased.

    Raises:
        NotFoundError: there is no such item or person.
        ForeignScopeError: the item belongs to another scope.
    """
    handle = reader.handle
    shared: dict[str, Any] = {"dry_run": dry_run}
    if not dry_run:
        shared |= {"actor": reader.name, "reason": wanted.reason}
    match wanted.what:
        case "person":
            erase = handle.admin.erase_person
            return await erase(wanted.name, include_mentions=wanted.mentions, **shared)
        case "tenant":
            return await handle.admin.erase_tenant(**shared)
        case "scope":
            return await handle.forget("scope", wanted.name, **shared)
        case _:
            card = await reader.reads.expand(wanted.name)
            return await handle.forget(TARGETS[type(card.item)], card.item.id, **shared)


async def plan(reader: Reader, asked: Asked, problem: str = "") -> tuple[str, dict[str, Any]]:
    """Show what an erasure would erase, or ask for what."""
    wanted, report = asked_for(reader, asked), None
    if wanted is not None:
        try:
            report = await run(reader, wanted, dry_run=True)
        except NotFoundError as error:
            problem = error.message
    lists = wanted is None and "admin" in reader.rights and reader.covers_tenant
    records = await reader.handle.admin.erasures(limit=RECORDS) if lists else None
    return "erase", {
        "wanted": wanted,
        "report": report,
        "seen": "" if report is None else seen(report),
        "problem": problem,
        "typed": {name: asked.text(name) for name in ("what", "id", "mentions")},
        "records": records,
    }


async def erase(reader: Reader, wanted: Erasing, form: Asked) -> ErasureReport | str:
    """Erase what a person confirmed; return the report, or what is missing."""
    if form.text("confirm") != wanted.confirmation:
        return f"Type “{wanted.confirmation}” to confirm: it cannot be taken back."
    if not wanted.reason:
        return "Give a reason: it is kept with the record, so it must not repeat what is erased."
    if seen(await run(reader, wanted, dry_run=True)) != form.text("seen"):
        return "It was changed meanwhile: this is the new plan."
    return await run(reader, wanted, dry_run=False)


def seen(report: ErasureReport) -> str:
    """Return a digest of a plan, by which a change is found."""
    parts = [f"{label} {n}" for label, n in sorted(report.counts.items())]
    parts += [one.id for one in report.texts]
    return sha256("\n".join(parts).encode()).hexdigest()[:16]
