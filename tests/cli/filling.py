"""A tenant with a text of choice in every field that takes text."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from graphmem import GraphMem
from graphmem.rules import display

FIELDS = 53
"""Texts that one filling takes."""
_numbers = itertools.count()


@dataclass(frozen=True)
class Filled:
    """What was made, to be asked for."""

    scope: str
    session: str
    memory: str
    older: str
    belief: str
    believed: str
    revised: str
    archived: str
    event: str
    episode: str
    turn: str
    subject: str
    predicate: str
    alias: str
    proposal: str


def fill(client: GraphMem, scope: str, text: Callable[[], str]) -> Filled:
    """Write to a scope by every way in.

    Args:
        client: on the tenant.
        scope: its name.
        text: returns what to put into the next field: at most 150 characters, which a graph holds.
    """
    n = next(_numbers)
    own = client.scope(scope)
    said = {"source": text(), "actor": text(), "artifact_ref": text()}
    # A memory takes no control characters, and is refused without words.
    about = f"Alpha number {n} of the harbour {display.line(text())}"
    kept = own.remember(about, tags=[text(), text()], **said)
    own.remember(about + " !", tags=[text()], source=text())
    newer = own.supersede(
        str(kept.memory_id), f"Beta {n} took its place {display.line(text())}", reason=text()
    )
    hidden = own.remember(f"Gamma {n} of the lighthouse {display.line(text())}", source=text())
    own.deprecate(str(hidden.memory_id), reason=text())
    subject, predicate = f"{text()} s{n}", f"{text()} p{n}"
    name = f"{text()} talk{n}"
    with own.session(name, agent=text()) as session:
        turns = session.add_messages(
            [
                {"role": text()[:50], "name": text(), "content": text(), "id": f"t{n} {text()}"},
                {"role": "user", "name": text(), "content": f"I live in Porto. {text()}"},
            ]
        )
        session.recall(f"alpha {text()}", turns=True)
        session.expand(newer.newer_id)
        session.touch("file", text() or "a")
        session.predicate(predicate, cardinality="ONE", template="{subject} is {object}")
        seen = session.observe(
            subject, predicate, text() + " one", note=text(), id=f"e{n} {text()}", **said
        )
        session.observe(subject, predicate, text() + " two", kind="refuting", note=text())
        believed = session.believe(f"{text()} statement {n}", note=text())
        replaced = session.believe(f"{text()} replaced {n}", note=text())
        session.revise(replaced.belief_id, f"{text()} revised {n}", reason=text())
        gone = session.believe(f"{text()} archived {n}", note=text())
        session.archive(gone.belief_id, reason=text(), note=text())
        session.evidence(believed, "refuting", 0.6, note=text(), source=text())
        alias = f"{text()} alias{n}"
        session.same_as(alias, f"{text()} name{n}", note=text())
        session.extract(extractor="rules", review=True)
        episode = str(session.episode_id)
    [proposal, *_] = [one.id for one in own.proposals(limit=100).proposals][-1:] or [""]
    return Filled(
        scope=scope,
        session=name,
        memory=newer.newer_id,
        older=str(kept.memory_id),
        belief=seen.belief_id,
        believed=believed.belief_id,
        revised=replaced.belief_id,
        archived=gone.belief_id,
        event=seen.event_id,
        episode=episode,
        turn=turns.turn_ids[0] if hasattr(turns, "turn_ids") else "",
        subject=subject,
        predicate=predicate,
        alias=alias,
        proposal=proposal,
    )


def once_each(texts: Iterator[str]) -> Callable[[], str]:
    """Return what hands out texts in turn."""
    return lambda: next(texts)
