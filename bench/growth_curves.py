"""Curves of the benchmark of growth: how to fill a tenant to a size, and the calls to measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from bench import synthetic
from bench.store import memory_row, write_memories
from graphmem.model import GLOBAL_SCOPE
from graphmem.ports import Role, run_now
from graphmem.rules import claims
from graphmem.testing import HashEmbedder

if TYPE_CHECKING:
    from bench.bare import Bare
    from graphmem import GraphMem, Handle

Calls = dict[str, Callable[[], object]]

BESIDE = 500
"""Other memories of each tenant: more than a search considers."""
TOTAL = 10_000
"""Memories of other tenants, and memories that scopes share out."""
START = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
BATCH = 500
ROWS = 100
"""Memories of one time, written together."""
DECADES = (10, 100, 1_000, 10_000)


@dataclass(frozen=True, slots=True)
class Place:
    """Where one point of a curve is measured."""

    client: GraphMem
    bare: Bare
    tenant: str
    size: int

    @property
    def handle(self) -> Handle:
        """The handle on the tenant."""
        return self.client.tenant(self.tenant)

    def fill(self, number: int, tenant: str | None = None, seed: int = 1) -> list[str]:
        """Write memories of synthetic texts into the tenant; return their ids."""
        ids = list[str]()
        for first in range(0, number, ROWS):
            texts = self.texts(first, min(ROWS, number - first), seed)
            ids += self.write(texts, [START + first * MINUTE], tenant=tenant)
        return ids

    def texts(self, first: int, number: int, seed: int = 1) -> list[str]:
        """Return synthetic sentences."""
        rng = np.random.default_rng([seed, first])
        return synthetic.sentences(rng, range(first, first + number))

    def write(
        self, texts: Sequence[str], times: Sequence[datetime], tenant: str | None = None
    ) -> list[str]:
        """Write memories that were remembered at these times; return their ids."""
        name = tenant or self.tenant
        block = synthetic.Corpus(texts, run_now(HashEmbedder().embed(texts, Role.DOCUMENT)))
        rows = [
            {**memory_row(name, block, 0, n, tokens=False), "number": text}
            for n, text in enumerate(texts)
        ]
        write_memories(self.bare, name, times, rows)
        return [str(row["id"]) for row in rows]


@dataclass(frozen=True, slots=True)
class Curve:
    """One number that grows."""

    build: Callable[[Place], Calls]
    """Fills the tenant and returns the calls."""
    sizes: tuple[int, ...] = DECADES
    limits: Mapping[str, str] = field(default_factory=dict)
    """Documented reasons of the calls that grow."""
    alone: bool = False
    """Whether each size needs a server of its own."""


def _asking(handle: Handle) -> Calls:
    """Return the calls that every curve has; each asks and writes something new."""
    numbers = count()
    questions = synthetic.sentences(np.random.default_rng(7), range(1_000_000, 1_000_100))

    def question() -> str:
        return questions[next(numbers) % len(questions)]

    return {
        "recall": lambda: handle.recall(question(), limit=10),
        "recall of the past": lambda: handle.recall(question(), limit=10, as_of=datetime.now(UTC)),
        "remember": lambda: handle.remember(f"{question()} {next(numbers)}"),
    }


def _events(place: Place) -> Calls:
    handle, text = place.handle, "The lantern of the old harbour was painted green"
    place.fill(BESIDE)
    times = [START + n * MINUTE for n in range(place.size)]
    [known] = place.write([text], times)
    return {
        "recall": lambda: handle.recall(text, limit=10),
        "recall of the past": lambda: handle.recall(text, limit=10, as_of=datetime.now(UTC)),
        "remember again": lambda: handle.remember(text),
        "memories.get": lambda: handle.memories.get(known),
        "history": lambda: handle.history(known),
        "why": lambda: handle.why(known),
        "expand": lambda: handle.expand(known),
        "forget, plan": lambda: handle.forget("memory", known),
    }


def _values(cardinality: str) -> Callable[[Place], Calls]:
    def build(place: Place) -> Calls:
        handle, predicate = place.handle, "keeps"
        place.fill(BESIDE)
        handle.predicates.declare(predicate, cardinality=cardinality)  # type: ignore[arg-type]
        for first in range(0, place.size, BATCH):
            handle.observe_many(
                {
                    "subject": "Ada",
                    "predicate": predicate,
                    "object": f"thing {n}",
                    "at": START + n * MINUTE,
                }
                for n in range(first, min(first + BATCH, place.size))
            )
        middle = place.size // 2
        known = claims.triple_claim(GLOBAL_SCOPE, "Ada", predicate, f"thing {middle}").id
        numbers = count(place.size)
        return {
            **_asking(handle),
            "observe": lambda: handle.observe("Ada", predicate, f"thing {next(numbers)}"),
            "observe again": lambda: handle.observe("Ada", predicate, f"thing {middle}"),
            "current": lambda: handle.current("Ada", predicate, limit=10),
            "beliefs.get": lambda: handle.beliefs.get(known),
            "beliefs.slots": lambda: handle.beliefs.slots("Ada"),
            "beliefs.list": lambda: handle.beliefs.list(limit=10),
            "why": lambda: handle.why(known),
            "evidence_for": lambda: handle.evidence_for(known),
            "expand": lambda: handle.expand(known),
            "forget, plan": lambda: handle.forget("belief", known),
        }

    return build


def _chain(place: Place) -> Calls:
    handle, numbers = place.handle, count(place.size)
    place.fill(BESIDE)
    first = str(handle.remember("The harbour opens at 0 o'clock").memory_id)
    head = [first]
    for n in range(1, place.size):
        done = handle.supersede(head[-1], f"The harbour opens at {n} o'clock")
        head.append(str(done.newer_id))

    def supersede() -> None:
        done = handle.supersede(head[-1], f"The harbour opens at {next(numbers)} o'clock")
        head.append(str(done.newer_id))

    return {
        **_asking(handle),
        "recall of the head": lambda: handle.recall("When does the harbour open?", limit=10),
        "supersede": supersede,
        "memories.get": lambda: handle.memories.get(first),
        "memories.chain": lambda: handle.memories.chain(first),
        "why": lambda: handle.why(first),
        "expand": lambda: handle.expand(first),
        "forget, plan": lambda: handle.forget("memory", first),
    }


def _aliases(place: Place) -> Calls:
    handle, numbers = place.handle, count(place.size)
    place.fill(BESIDE)
    handle.observe("Ada", "keeps", "bees")
    for n in range(place.size):
        handle.aliases.add(f"Countess {n}", "Ada")
    known = claims.triple_claim(GLOBAL_SCOPE, "Ada", "keeps", "bees").id
    return {
        **_asking(handle),
        "observe": lambda: handle.observe("Countess 3", "keeps", f"thing {next(numbers)}"),
        "current": lambda: handle.current("Countess 3", "keeps", limit=10),
        "beliefs.slots": lambda: handle.beliefs.slots("Countess 3"),
        "why": lambda: handle.why(known),
        "expand": lambda: handle.expand(known),
        "aliases.add": lambda: handle.aliases.add(f"Countess {next(numbers)}", "Ada"),
    }


def _tenants(place: Place) -> Calls:
    handle, others = place.handle, place.size
    place.fill(BESIDE)
    handle.observe("Ada", "keeps", "bees")
    each = TOTAL // others
    for n in range(others):
        place.fill(each, f"other {n}", seed=2 + n)
    return {**_asking(handle), **_facts(handle)}


def _facts(handle: Handle) -> Calls:
    numbers, chat = count(), handle.session("chat")

    def message() -> dict[str, str]:
        return {"role": "user", "content": f"It is the message {next(numbers)} about the harbour."}

    return {
        "observe": lambda: handle.observe("Ada", "likes", f"thing {next(numbers)}"),
        "current": lambda: handle.current("Ada", "keeps", limit=10),
        "add_messages": lambda: chat.add_messages([message()]),
        "memories.list": lambda: handle.memories.list(limit=10),
        "beliefs.list": lambda: handle.beliefs.list(limit=10),
        "episodes.list": lambda: handle.episodes.list(limit=10),
    }


def _scopes(place: Place) -> Calls:
    handle = place.handle.scope("own")
    _share(place, handle)
    return {
        **_asking(handle),
        **_facts(handle),
        "admin.scopes": lambda: place.handle.admin.scopes(),
    }


def _read_scopes(place: Place) -> Calls:
    read = ["own", *(f"other {n}" for n in range(place.size))]
    handle = place.handle.scope("own", read_scopes=read)
    _share(place, place.handle.scope("own"))
    return {**_asking(handle), **_facts(handle)}


def _share(place: Place, own: Handle) -> None:
    """Write as many memories into the own scope as into all others together."""
    own.remember_many(place.texts(0, BESIDE))
    own.observe("Ada", "keeps", "bees")
    for n in range(place.size):
        part = place.texts(n, max(1, BESIDE // place.size), seed=3)
        place.handle.scope(f"other {n}").remember_many(part)


def _turns(place: Place) -> Calls:
    handle, numbers = place.handle, count(place.size)
    place.fill(BESIDE)
    chat = handle.session("chat")
    texts = place.texts(0, place.size, seed=4)

    def messages(first: int) -> Iterator[dict[str, object]]:
        for n, text in enumerate(texts[first : first + BATCH], first):
            yield {"role": "user", "content": text, "at": START + n * MINUTE}

    episode = ""
    for first in range(0, place.size, BATCH):
        episode = chat.add_messages(messages(first)).episode_id
    page = handle.episodes.turns(episode, limit=10)
    turn = page.turns[0].id

    def add() -> None:
        chat.add_messages([{"role": "user", "content": f"A message numbered {next(numbers)}."}])

    return {
        **_asking(handle),
        "add_messages": add,
        "context": lambda: handle.context(texts[0]),
        "episodes.get": lambda: handle.episodes.get(episode),
        "episodes.list": lambda: handle.episodes.list(limit=10),
        "episodes.turns": lambda: handle.episodes.turns(episode, limit=10),
        "expand a turn": lambda: handle.expand(turn),
        "expand the episode": lambda: handle.expand(episode),
    }


def _memories(place: Place) -> Calls:
    handle = place.handle
    handle.observe("Ada", "keeps", "bees")
    ids = iter(place.fill(place.size))
    known = next(ids)
    return {
        **_asking(handle),
        **_facts(handle),
        "memories.get": lambda: handle.memories.get(known),
        "expand": lambda: handle.expand(known),
        "forget, plan": lambda: handle.forget("memory", known),
        "forget": lambda: handle.forget("memory", next(ids), dry_run=False),
    }


def _because(reason: str, *calls: str) -> dict[str, str]:
    return dict.fromkeys(calls, reason)


RECALLS = ("recall", "recall of the past")
OF_EVENTS = _because(
    "reads each event of the memories that it shows",
    *RECALLS,
    *("memories.get", "history", "why", "expand", "forget, plan"),
)
OF_VALUES = _because("ranks the values of the slot", "current", "beliefs.slots", "why")
OF_PLANS = _because("compares each text of the tenant", "forget, plan")
OF_TEXTS = {**OF_PLANS, "forget": OF_PLANS["forget, plan"]}
OF_BELIEFS = _because("checks each belief of the scope", "beliefs.list")
OF_CHAIN = _because(
    "follows the chain",
    *("recall of the past", "memories.get", "memories.chain", "why", "expand", "forget, plan"),
)
OF_NAMES = _because("checks each name of the subject", *RECALLS, "current", "beliefs.slots", "why")
OF_TURNS = _because(
    "reads each turn of the conversation",
    *("add_messages", "episodes.get", "episodes.list", "expand the episode"),
)
ONE_VALUE = _because(
    "ranks the slot to know whether the value leads", *RECALLS, "beliefs.get", "expand"
)

CURVES: Mapping[str, Curve] = {
    "events per memory": Curve(_events, (1, 10, 100, 1_000), OF_EVENTS),
    "values per slot, MANY": Curve(_values("MANY"), limits={**OF_VALUES, **OF_BELIEFS, **OF_PLANS}),
    "values per slot, ONE": Curve(
        _values("ONE"), limits={**OF_VALUES, **OF_BELIEFS, **OF_PLANS, **ONE_VALUE}
    ),
    "length of a chain": Curve(_chain, (3, 10, 30, 300), OF_CHAIN),
    "aliases": Curve(_aliases, (1, 10, 100, 500), OF_NAMES),
    "tenants": Curve(_tenants, alone=True),
    "scopes": Curve(_scopes, (1, 10, 100, 1_000)),
    "scopes read": Curve(_read_scopes, (1, 10, 50, 199)),
    "turns per session": Curve(_turns, limits=OF_TURNS),
    "memories per tenant": Curve(
        _memories, (1_000, 10_000, 30_000, 100_000), {**OF_TEXTS, **OF_BELIEFS}
    ),
}
