"""Concurrent writers and readers; each write uses ids of its own."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TypeAlias

from graphmem import GraphMem, Handle
from graphmem.errors import GraphmemError, RefusedError, UnavailableError
from graphmem.io_modes import BLOCKING, SystemClock
from graphmem.model import Origin

BATCH = 6
"""Number of texts or observations in one transaction."""
AGAIN = 0.6
"""Probability that a write without acknowledgement is retried unchanged."""
WRONG = (timedelta(0), timedelta(hours=1), timedelta(0), timedelta(hours=-1))
"""Clock errors of the writers, in turn."""
SYLLABLES = ["ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ra", "se", "ti", "vo", "zu"]


@dataclass(slots=True)
class Write:
    """One call, and the ids that it must leave in the graph."""

    kind: str
    ids: tuple[str, ...]
    """Ids of its events; for messages, the texts of its turns."""
    is_done: bool = False
    """Whether the write was acknowledged."""


@dataclass
class Journal:
    """The writes that a writer tried, and the errors they met."""

    writes: list[Write] = field(default_factory=list)
    unexpected: Counter[str] = field(default_factory=Counter)
    unavailable: Counter[str] = field(default_factory=Counter)


class WrongClock(SystemClock):
    """A clock with a constant error."""

    def __init__(self, wrong: timedelta) -> None:
        super().__init__(BLOCKING)
        self._wrong = wrong

    def now(self) -> datetime:
        """Return the wrong current time, UTC."""
        return super().now() + self._wrong


def with_clock(memory: Handle, wrong: timedelta) -> Handle:
    """Return the same handle with a clock that is wrong by this much."""
    context = memory._state.context
    services = replace(context.services, clock=WrongClock(wrong))
    return GraphMem(replace(memory._state, context=replace(context, services=services)))


Verb: TypeAlias = Callable[[str], tuple[Write, Callable[[], object]]]
"""Returns, for a mark, a write and the call that performs it."""


class Writer(threading.Thread):
    """Performs one write after another until the event is set."""

    def __init__(self, memory: Handle, number: int, over: threading.Event) -> None:
        super().__init__(daemon=True)
        self.journal = Journal()
        self._memory = with_clock(memory, WRONG[number % len(WRONG)])
        self._number = number
        self._over = over
        self._chance = random.Random(number)  # noqa: S311 - not for cryptography
        self._known: list[str] = []
        """Memories that can be superseded or deprecated."""

        self._verbs = [
            *(self._remember, self._remember_many, self._observe, self._observe_many),
            *(self._add_messages, self._add_evidence, self._supersede, self._deprecate, self._read),
        ]

    def run(self) -> None:
        """Write until the run is over."""
        while not self._over.is_set():
            self._write(self._chance.choice(self._verbs))

    def write_once(self) -> None:
        """Perform each kind of write once in the caller's thread, so that its query is planned."""
        for verb in (self._remember, *self._verbs):  # Two memories: to supersede and to deprecate.
            self._write(verb)

    def _write(self, verb: Verb) -> None:
        write, call = verb(f"{self._number}-{len(self.journal.writes)}")
        self.journal.writes.append(write)
        self._call(write, call)

    def _call(self, write: Write, call: Callable[[], object]) -> None:
        while not write.is_done:
            try:
                call()
            except UnavailableError as error:
                self.journal.unavailable[error.code] += 1
                if self._over.is_set() or self._chance.random() > AGAIN:
                    return
            except RefusedError as error:
                # Another writer changed the state; this write must have left nothing behind.
                self.journal.unexpected[f"refused {write.kind}: {error.code}"] += 1
                return
            except GraphmemError as error:
                # The message of a rejected query contains Neo4j's error codes, and no values.
                self.journal.unexpected[f"{error.code}: {error}"] += 1
                return
            else:
                write.is_done = True

    def _text(self, mark: str) -> str:
        words = ("".join(self._chance.choices(SYLLABLES, k=4)) for _ in range(9))
        return f"{mark} {' '.join(words)}"

    def _remember(self, mark: str) -> tuple[Write, Callable[[], object]]:
        text = self._text(mark)

        def call() -> None:
            done = self._memory.remember(text, event_id=mark)
            if done.memory_id:
                self._known.append(done.memory_id)

        return Write("remember", (mark,)), call

    def _remember_many(self, mark: str) -> tuple[Write, Callable[[], object]]:
        from graphmem import NewMemory

        ids = tuple(f"{mark}-{n}" for n in range(BATCH))
        memories = [NewMemory(content=self._text(i), event_id=i) for i in ids]
        return Write("remember_many", ids), lambda: self._memory.remember_many(memories)

    def _observe(self, mark: str) -> tuple[Write, Callable[[], object]]:
        # Few subjects, so that all writers share slots.
        who, what = f"s{self._chance.randrange(20)}", f"v{self._chance.randrange(5)}"
        return (
            Write("observe", (mark,)),
            lambda: self._memory.observe(who, "works on", what, event_id=mark),
        )

    def _observe_many(self, mark: str) -> tuple[Write, Callable[[], object]]:
        ids = tuple(f"{mark}-{n}" for n in range(BATCH))
        rows = [
            {"subject": f"s{n}", "predicate": "likes", "object": mark, "event_id": i}
            for n, i in enumerate(ids)
        ]
        return Write("observe_many", ids), lambda: self._memory.observe_many(rows)

    def _add_messages(self, mark: str) -> tuple[Write, Callable[[], object]]:
        texts = tuple(self._text(f"{mark}-{n}") for n in range(3))
        messages = [
            {"role": "user", "content": text, "id": f"{mark}-{n}"} for n, text in enumerate(texts)
        ]

        def call() -> None:
            self._memory.session(f"session {self._number}").add_messages(messages)

        return Write("add_messages", texts), call

    def _add_evidence(self, mark: str) -> tuple[Write, Callable[[], object]]:
        statement = f"The pool of writer {self._number} is large enough"
        kind = self._chance.choice(["supporting", "refuting"])

        def call() -> None:
            belief = self._memory.believe(statement, event_id=f"b-{mark}")
            self._memory.add_evidence(belief, kind, 0.7, event_id=mark)  # type: ignore[arg-type]

        return Write("evidence", (mark,)), call

    def _supersede(self, mark: str) -> tuple[Write, Callable[[], object]]:
        if not self._known:
            return self._remember(mark)
        older = self._known.pop(self._chance.randrange(len(self._known)))
        text = self._text(mark)
        return Write("supersede", (mark,)), lambda: self._memory.supersede(
            older, text, origin=Origin(event_id=mark)
        )

    def _deprecate(self, mark: str) -> tuple[Write, Callable[[], object]]:
        if not self._known:
            return self._remember(mark)
        hidden = self._chance.choice(self._known)
        return Write("deprecate", (mark,)), lambda: self._memory.memories.deprecate(
            hidden, origin=Origin(event_id=mark)
        )

    def _read(self, mark: str) -> tuple[Write, Callable[[], object]]:
        who = f"s{self._chance.randrange(20)}"

        def call() -> None:
            self._memory.recall(self._text(mark))
            self._memory.current(who, "works on")

        return Write("read", ()), call
