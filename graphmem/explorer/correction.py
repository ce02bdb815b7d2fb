"""Correct a fact: plan what would change, change it, and take it back."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, TypeAlias

from graphmem.errors import InvalidInputError
from graphmem.explorer import status
from graphmem.explorer.reader import RANKED, SOURCE, Asked, Reader
from graphmem.folding import fold
from graphmem.model import BeliefCard, Cardinality, Memory, Slot
from graphmem.rules import claims

How: TypeAlias = Literal["changed", "never"]
CONFIDENCE = 0.95
"""Confidence of a value that a person puts right."""
BETWEEN, PAIR = "\n", " "
REVIEWS = ("unreject", "accept")
"""Steps that take back a decision of a review; others need the right to write."""

Rows: TypeAlias = list[tuple[str, status.Standing]]


class ChangedMeanwhileError(Exception):
    """The fact is no longer as it was when its correction was planned."""


@dataclass(frozen=True)
class Correction:
    """A fact, and what is right instead."""

    item: BeliefCard | Memory
    slot: Slot | None
    """Slot of the fact; None if it is not a triple."""
    how: How
    """Whether it was true before, or never."""
    right: str
    """Value or text that is right; empty if only the fact is wrong."""
    reason: str

    @property
    def text(self) -> str:
        """Return the text of the fact."""
        return self.item.content if isinstance(self.item, Memory) else self.item.statement

    @property
    def rights(self) -> list[str]:
        """Return the rights that the correction needs."""
        return ["write"] * bool(self.right) + ["review"] * (self.how == "never")

    @property
    def seen(self) -> str:
        """Return a digest of the fact and its slot, by which a change is found."""
        parts = [self.item.id, str(self.item.status)]
        if self.slot is not None:
            parts += [f"{one.belief_id} {one.events}" for one in self.slot.candidates]
        return sha256("\n".join(parts).encode()).hexdigest()[:16]


async def asked_for(reader: Reader, asked: Asked) -> Correction:
    """Return the correction that a page is about, from the state of now.

    Raises:
        NotFoundError: no visible belief or memory has this id.
        InvalidInputError: a text is too long.
    """
    reader.need("read")
    item_id, slot = asked.text("id"), None
    item: BeliefCard | Memory
    if item_id.startswith("b_"):
        # `get` and `why` would rank the slot of a belief, which `current` does.
        item = (await reader.reads.beliefs.provenance(item_id, limit=1)).belief
    else:
        item = await reader.reads.memories.get(item_id)
    if isinstance(item, BeliefCard) and item.subject and item.predicate:
        slot = await reader.reads.current(item.subject, item.predicate)
    how: How = "never" if asked.text("how") == "never" else "changed"
    return Correction(item, slot, how, asked.short("right"), asked.short("reason"))


def missing(wanted: Correction) -> str | None:
    """Return what a person must still say before a preview; None if nothing."""
    if not wanted.reason:
        return "Give a reason: it is kept with the correction."
    if wanted.how == "changed" and not wanted.right:
        return "Give what is right now, or choose that it was never true."
    if wanted.right and fold(wanted.right) == fold(_value(wanted)):
        return "That is what the memory states already."
    return None


def _value(wanted: Correction) -> str:
    return wanted.text if wanted.slot is None else str(wanted.item.object)  # type: ignore[union-attr]


def right_text(wanted: Correction) -> str:
    """Return the statement of what is right, in the words of the wrong one if possible."""
    if wanted.slot is None or not wanted.right:
        return wanted.right
    start, value, end = wanted.text.rpartition(_value(wanted))
    if value:
        return f"{start}{wanted.right}{end}"
    return claims.triple_sentence(None, wanted.slot.subject, wanted.slot.predicate, wanted.right)


async def preview(reader: Reader, wanted: Correction) -> dict[str, Any]:
    """Return what a correction would change in the slot and in a block; nothing is written."""
    question = wanted.text
    if wanted.slot is not None:
        question = f"{wanted.slot.subject} {wanted.slot.predicate.replace('_', ' ')}"
    drawn = wanted.slot is None or wanted.slot.total <= RANKED
    # A search ranks the slots of all that it finds.
    bites = (await reader.reads.recall(question)).bites if drawn else ()
    value, gone = _value(wanted), fold(wanted.text)
    lines = [
        (bite, bite.id == wanted.item.id or (wanted.how == "never" and fold(bite.text) == gone))
        for bite in bites
    ]
    still = [bite for bite, goes in lines if not goes and fold(value) in fold(bite.text)]
    return {
        "before": _before(wanted),
        "after": _after(wanted),
        "drawn": drawn,
        "block": lines,
        "added": right_text(wanted),
        "still": still,
        "question": question,
        "seen": wanted.seen,
        "once": secrets.token_hex(8),
    }


def _before(wanted: Correction) -> Rows:
    if wanted.slot is None:
        return [(wanted.text, status.of_status(wanted.item.status))]
    slot = wanted.slot
    return [(one.object, status.of_candidate(one, slot)) for one in slot.candidates]


def _after(wanted: Correction) -> Rows:
    wrong: status.Standing = "rejected" if wanted.how == "never" else "outdated"
    value = _value(wanted)
    added: Rows = [(wanted.right, "current")] if wanted.right else []
    if wanted.slot is None:
        return [*added, (wanted.text, wrong)]
    replaces = wanted.slot.cardinality is Cardinality.ONE and bool(added)
    others: Rows = [
        (name, "outdated" if replaces and standing != "rejected" else standing)
        for name, standing in _before(wanted)
        if name not in {value, wanted.right}
    ]
    return [*added, *others, (value, wrong)]


async def apply(reader: Reader, wanted: Correction, *, seen: str, once: str) -> str:
    """Put a fact right; return the steps that take it back.

    Args:
        reader: the person.
        wanted: the correction.
        seen: digest of the state that the person was shown.
        once: id of the preview; the events of a repeated request are not written again.

    Raises:
        MissingRightError: the key does not grant the correction.
        ChangedMeanwhileError: the fact was changed since the preview.
    """
    reader.need(*wanted.rights)
    if problem := missing(wanted):
        raise InvalidInputError(problem)
    if seen != wanted.seen:
        raise ChangedMeanwhileError
    handle, undo = reader.handle, list[str]()
    if wanted.right:
        if wanted.slot is not None:
            undo += await _observe(reader, wanted, once)
        else:
            undo += await _replace(reader, wanted, once)
    if wanted.how == "never":
        await handle.reject(
            wanted.item.id, reason=wanted.reason, origin=reader.origin(f"{once}-reject")
        )
        undo.insert(0, f"unreject{PAIR}{wanted.item.id}")
    return BETWEEN.join(undo)


async def _observe(reader: Reader, wanted: Correction, once: str) -> list[str]:
    """Record that a value is right and, where values coexist, that the other one has ended."""
    slot, handle = wanted.slot, reader.handle
    assert slot is not None  # noqa: S101 - for type checkers
    shared: dict[str, Any] = {
        "confidence": CONFIDENCE,
        "source": SOURCE,
        "actor": reader.name,
        "note": wanted.reason,
    }
    subject, predicate = slot.subject, slot.predicate
    made = [
        await handle.observe(subject, predicate, wanted.right, event_id=f"{once}-right", **shared)
    ]
    if slot.cardinality is Cardinality.MANY and wanted.how == "changed":
        value, event_id = _value(wanted), f"{once}-ended"
        ended = handle.observe(
            subject, predicate, value, kind="refuting", event_id=event_id, **shared
        )
        made.append(await ended)
    return [f"retract{PAIR}{one.event_id}" for one in made]


async def _replace(reader: Reader, wanted: Correction, once: str) -> list[str]:
    """Replace a text by the right one."""
    handle, old = reader.handle, wanted.item.id
    origin = reader.origin(f"{once}-right")
    if isinstance(wanted.item, Memory):
        done = await handle.supersede(old, wanted.right, reason=wanted.reason, origin=origin)
        return [f"restore_memory{PAIR}{done.older_id}", f"deprecate{PAIR}{done.newer_id}"]
    made = await handle.beliefs.revise(old, wanted.right, reason=wanted.reason, origin=origin)
    newer = [f"archive{PAIR}{one}" for one in made.newer_ids]
    return [f"restore_belief{PAIR}{old}", *newer]


async def undo(reader: Reader, steps: str) -> None:
    """Take a correction back.

    Args:
        reader: the person.
        steps: what `apply` returned.
    """
    given = [step.split(PAIR, 1) for step in steps.split(BETWEEN) if step]
    reader.need(*("review" if verb in REVIEWS else "write" for verb, _ in given))
    for verb, known in given:
        await _take_back(reader, verb, known)


async def _take_back(reader: Reader, verb: str, known: str) -> None:
    handle, reason = reader.handle, "Correction taken back"
    match verb:
        case "unreject":
            await handle.unreject(known, reason=reason)
        case "accept":
            await handle.proposals.accept([known], origin=reader.origin(note=reason))
        case "retract":
            await handle.beliefs.retract(known)
        case "restore_memory":
            await handle.memories.restore(known, reason=reason)
        case "deprecate":
            await handle.memories.deprecate(known, reason=reason)
        case "restore_belief":
            await handle.beliefs.restore(known, reason=reason)
        case _:
            await handle.beliefs.archive(known, reason=reason)
