"""A tenant with hostile texts in every text field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count, cycle
from typing import Any

from graphmem import Handle
from graphmem.model import Origin
from graphmem.rules import display
from tests.plugins import hostile
from tests.plugins.episodes import SWIMS, tell
from tests.plugins.origins import with_origin
from tests.plugins.texts import unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)
PLAIN = (*hostile.MARKUP, *hostile.UNSEEN)
"""Texts that hygiene accepts in a memory; it rejects control characters."""


CHECKED = {"subject", "predicate", "object", "statement", "note"}
"""Fields that hygiene refuses control characters in."""


@dataclass
class Tenant:
    """Ids of a tenant's data by kind, and its texts by field."""

    ids: dict[str, list[str]] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    written: int = 0

    def keep(self, kind: str, *ids: str | None) -> None:
        """Record ids."""
        self.ids.setdefault(kind, []).extend(i for i in ids if i)


def filled(memory: Handle, least: int) -> Tenant:
    """Write at least `least` hostile texts, each starting with a unique number."""
    tenant, numbers = Tenant(), count()
    texts = {False: cycle(hostile.TEXTS), True: cycle(PLAIN)}

    def text(name: str, *, clean: bool = False) -> str:
        made = f"zq{next(numbers)}x{next(texts[clean or name in CHECKED])}"
        tenant.texts.setdefault(name, []).append(made)
        tenant.written += 1
        return made

    _write_once(memory, tenant, text)
    for group in count():
        _write_group(memory, tenant, text, group)
        if tenant.written >= least:
            break
    memory.usage.flush()
    memory.usage.rate()
    return tenant


Text = Callable[..., str]


def _write_once(memory: Handle, tenant: Tenant, text: Text) -> None:
    """Write the items that are needed only once: input of jobs."""
    tell(memory, SWIMS, name=text("speaker"))
    tell(memory, [f"{unlike(n)} {text('said')}" for n in range(8)], first=10)
    waiting = memory.session("waiting")
    waiting.add_messages(
        [{"role": "user", "name": text("waiting", clean=True), "content": "I moved to Lisbon."}]
    )
    proposals = waiting.extract(extractor="rules", review=True).proposals
    tenant.keep("proposal", *(str(proposal.event_id) for proposal in proposals))
    long = memory.episodes.add(
        episode_id="long", content=unlike(8) * 9, summary=text("summary"), at=MAY
    )
    dear = memory.episodes.add(episode_id="dear", content=text("episode"), importance=0.9, at=MAY)
    tenant.keep("episode", long, dear)
    unused = memory.episodes.add(content=f"{text('pruned', clean=True)} {unlike(1_000)}", at=MAY)
    tenant.keep("unused", unused)


def _write_group(memory: Handle, tenant: Tenant, text: Text, group: int) -> None:
    """Write to every text field."""

    def source(at: datetime = MAY) -> dict[str, Any]:
        return {"source": text("source"), "actor": text("actor"), "at": at}

    sentences = (
        f"{unlike(10 * group + n, about='m')} {text('memory', clean=True)}" for n in range(4)
    )
    kept, old, hidden, newer = sentences
    memory_id = memory.remember(
        kept, tags=[text("tag"), text("tag")], artifact_ref=text("ref"), **source()
    ).memory_id
    memory.remember(kept, **source())
    replaced = memory.remember(old, **source()).memory_id
    memory.supersede(str(replaced), newer, reason=text("reason"), **with_origin(source()))
    gone = memory.remember(hidden, **source()).memory_id
    memory.memories.deprecate(str(gone), reason=text("reason"), **with_origin(source()))
    tenant.keep("memory", memory_id, replaced, gone)
    with memory.session(text("session"), agent=text("agent")) as session:
        session.add_messages(
            [
                {"role": text("role"), "name": text("name"), "content": text("turn"), "at": MAY},
                {"role": "user", "name": text("name"), "content": text("turn"), "at": MAY},
            ]
        )
        tenant.keep("turn", *(turn.id for turn in session.episodes.turns(session.episode_id).turns))
        tenant.keep("session", session.episode_id)
        session.recall(f"{kept} {text('query')}")
        session.usage.log_access("file", text("ref"))
        results = [str(memory_id), ("file", text("ref"))]
        session.usage.log_search(text("query"), tool=text("tool"), results=results)  # type: ignore[arg-type]
        session.expand(str(memory_id))
        subject, predicate = text("subject"), text("predicate")
        template = "{subject} " + f"zq template [/etc] {chr(27)}[2J" + " {object}"
        session.predicates.declare(
            predicate, cardinality="ONE", template=template, **with_origin(source())
        )
        for _ in range(2):
            seen = session.observe(
                subject,
                predicate,
                text("object"),
                note=text("note"),
                event_id=text("id"),
                **source(),
            )
        tenant.keep("belief", seen.belief_id)
    tenant.keep("slot", subject, predicate)
    tenant.keep("event", seen.event_id)
    _believe(memory, tenant, text, source)


def _believe(memory: Handle, tenant: Tenant, text: Text, source: Callable[[], Any]) -> None:
    first, second, third = (
        memory.believe(text("statement"), note=text("note"), **source()) for _ in range(3)
    )
    memory.add_evidence(first, "refuting", 0.9, note=text("note"), **source())
    memory.beliefs.revise(second, text("statement"), reason=text("reason"), **with_origin(source()))
    memory.beliefs.archive(third, reason=text("reason"), **with_origin(source()))
    name = text("alias")
    memory.aliases.add(name, text("other"), origin=Origin(note=text("note"), source=text("source")))
    tenant.keep("alias", name)
    tenant.keep("belief", first.belief_id, second.belief_id, third.belief_id)
    tenant.keep("archived", third.belief_id)


def is_in(text: str, written: str) -> bool:
    """Return whether an output contains the beginning of a text, as lines or on one line."""
    ways = (display.block(text).split("\n")[0], display.line(" ".join(text.split())))
    return any(way[:20] in written for way in ways)
