"""A tenant that others attack: one of everything, each with a mark that must never leave it."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from dataclasses import dataclass
from typing import Any

from graphmem import Handle
from graphmem.items import PutItem
from graphmem.model import Origin, Record
from graphmem.rules import identity, urls
from tests.plugins.clients import on_tenant
from tests.plugins.episodes import SWIMS, tell
from tests.plugins.everything import MAY, write_everything
from tests.plugins.graph import NODES, Look, fresh_tenant
from tests.plugins.texts import unlike

MARK = "opensesame"
"""Stands in every free text of the victim, and nowhere else."""
NAMESPACE = ("a", "b")


@dataclass(frozen=True)
class Victim:
    """A tenant, and what others may have got to know of it."""

    name: str
    memory: Handle
    known: dict[str, str]
    """Ids that any tenant with the same texts has too."""
    marked: dict[str, str]
    """The same, of what only this tenant has."""


def made(client: Handle) -> Victim:
    """Return a tenant with one of everything, its log written."""
    name = f"{fresh_tenant()} Aé"
    memory = on_tenant(client, name)
    known = write_everything(memory)
    marked = mark_everything(memory, known)
    tell(memory, SWIMS, name=MARK)
    memory.usage.flush()
    known |= known_besides(memory, name, known)
    return Victim(name, memory, known, known | marked)


def mark_everything(memory: Handle, known: dict[str, str]) -> dict[str, str]:
    """Write more to all that there is, each with a mark; return the ids of what is new."""
    said: dict[str, Any] = {"source": MARK, "actor": MARK, "at": MAY}
    for n in (1, 2, 4):
        memory.remember(unlike(n), tags=[MARK], artifact_ref=MARK, **said)
    own = memory.remember(f"{unlike(1)} {MARK}", tags=["t", MARK], event_id="x1", **said)
    memory.observe("alice", "works_on", MARK, note=MARK, **said)
    memory.observe("alice", "works_on", "Atlas", note=MARK, episode_id=known["episode"], **said)
    memory.add_evidence(known["belief"], "supporting", 0.8, note=MARK, **said)
    belief = memory.believe(f"{unlike(6)} {MARK}", event_id="x2", note=MARK, **said)
    memory.add_evidence(belief, "supporting", 0.8, event_id="x3", note=MARK, **said)
    memory.aliases.add(f"Alice {MARK}", "alice", origin=Origin(note=MARK, source=MARK))
    memory.predicates.declare(
        f"likes {MARK}", cardinality="ONE", origin=Origin(note=MARK, source=MARK)
    )
    memory.memories.deprecate(
        str(memory.remember(unlike(20)).memory_id), reason=MARK, origin=Origin(actor=MARK)
    )
    document = memory.episodes.add(
        episode_id="x4", content=f"{unlike(6)} {MARK}", summary=MARK, at=MAY
    )
    with memory.session("s1", agent=MARK) as session:
        session.add_messages(
            [{"role": "user", "name": MARK, "content": f"{unlike(1)} {MARK}", "id": MARK}]
        )
        session.usage.log_access("file", f"{MARK}.md")
        session.recall(f"{unlike(1)} {MARK}")
        found = [known["memory"], str(own.memory_id), ("file", f"{MARK}.md")]
        session.usage.log_search(MARK, tool=MARK, results=found)  # type: ignore[arg-type]
        session.expand(str(own.memory_id))
    value = {"n": 1, "text": MARK}
    memory.items.batch(
        [
            PutItem(namespace=NAMESPACE, key="k", value=value, texts={"$": unlike(1)}),
            PutItem(namespace=(*NAMESPACE, MARK), key=MARK, value=value, texts={"$": MARK}),
        ]
    )
    memory.usage.rate()
    return {
        "memory": str(own.memory_id),
        "belief": belief.belief_id,
        "event": "x3",
        "said": "x1",
        "document": document,
    }


def known_besides(memory: Handle, name: str, known: dict[str, str]) -> dict[str, str]:
    """Return what else an attacker may have got hold of: cursors, turns, events, keys, digests."""
    pages = {
        "list": memory.memories.list(limit=1).next_cursor,
        "beliefs": memory.beliefs.list(limit=1).next_cursor,
        "episodes": memory.episodes.list(limit=1).next_cursor,
        "scopes": memory.admin.scopes(limit=1).next_cursor,
        "slots": memory.beliefs.slots(limit=1).next_cursor,
        "stale": memory.memories.stale(days=1, limit=1).next_cursor,
    }
    return {
        **{f"{page} cursor": cursor for page, cursor in pages.items() if cursor is not None},
        "turn": memory.episodes.turns(known["episode"]).turns[0].id,
        "said": memory.memories.history(known["memory"])[-1].id,
        "tenant_key": identity.tenant_key(name),
    }


def looks(look: Look, tenant: str) -> str:
    """Return a digest of every node and edge of a tenant, and of every edge that leads out."""
    found = [
        look.rows(
            NODES + "RETURN elementId(n) AS id, labels(n) AS of, properties(n) AS has",
            tenant=tenant,
        ),
        look.rows(
            NODES + "MATCH (n)-[r]-(m) "
            "RETURN elementId(r) AS id, type(r) AS of, properties(r) AS has, m.tenant AS at",
            tenant=tenant,
        ),
    ]
    return hashlib.sha256(repr([sorted(map(repr, rows)) for rows in found]).encode()).hexdigest()


def disguises(victim: str) -> list[str]:
    """Return names that a sloppy comparison, index or query would take for the victim's."""
    key = identity.tenant_key(victim)
    return [
        victim[:-1],
        f"{victim} ",
        f" {victim}",
        f"{victim}x",
        victim.upper(),
        victim.casefold(),
        unicodedata.normalize("NFD", victim),
        victim.replace("A", "\u0410"),
        victim.replace("A", "\uff21"),
        f"{victim}\u200b",
        f"{victim}\0",
        f"{victim}\x1fglobal",
        f"{victim}/global",
        f"{victim}*",
        f'"{victim}"',
        f"* OR tenant_key:{key}",
        f"{key}",
        f"{victim}' OR true //",
        f"{victim}`}}) //",
        urls.literal(victim),
        f"{victim}{'x' * (200 - len(victim))}",
    ]


def told(result: object) -> str:
    """Return everything that a result says, as one text."""
    if isinstance(result, Record):
        return result.model_dump_json()
    if isinstance(result, (list, tuple)):
        return "\n".join(map(told, result))
    return json.dumps(result, default=repr, ensure_ascii=False)
