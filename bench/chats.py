"""A hundred conversations by `respond` alone, and over the default tools of MCP alone."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from mcp import Client

from bench.figures import Report, Row, Table
from bench.month import with_ports
from bench.server import fresh_server
from graphmem import GraphMem, Handle, PromptMessages, Session
from graphmem.mcp.connection import Caller, MemoryConnection
from graphmem.mcp.server import RequestHandler, create_server
from graphmem.testing import FrozenClock

if TYPE_CHECKING:
    from bench.progress import Steps
    from graphmem.settings import Settings

SESSIONS = 100
ASKED = 2
"""Number of questions in a session."""
WANTED = 0.5
"""Least share of the used items that are rated."""
WHY = 4
"""Over MCP, the agent asks for the reasons of one of so many answers."""
WAYS = (0, 1, 2)
"""Ways to answer: with the id, in the words of the item, with the value only."""
NAMES = ("with the id", "in the words of the item", "with the value only")
STARTED = datetime.combine(datetime.now(UTC).date() + timedelta(days=1), datetime.min.time(), UTC)

PEOPLE = ("Mara", "Jonas", "Priya", "Tomas", "Leila", "Oskar", "Nadia", "Felix", "Greta", "Ivan")
FACTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "My friend {} lives in {}.",
        "Where does {} live?",
        (
            *("Porto", "Lyon", "Graz", "Turku", "Malaga"),
            *("Bergen", "Leeds", "Gdansk", "Ghent", "Trieste"),
        ),
    ),
    (
        "{} works as a {}.",
        "What is the profession of {}?",
        (
            *("nurse", "welder", "pilot", "botanist", "judge"),
            *("florist", "surgeon", "carpenter", "geologist", "translator"),
        ),
    ),
    (
        "The birthday of {} is on {}.",
        "When is the birthday of {}?",
        (
            *("3 May", "14 June", "9 March", "27 July", "30 August"),
            *("11 October", "2 April", "19 November", "8 January", "23 December"),
        ),
    ),
    (
        "{} is allergic to {}.",
        "What must {} not eat?",
        (
            *("peanuts", "shellfish", "celery", "sesame", "lupin"),
            *("mustard", "walnuts", "strawberries", "soya", "kiwi"),
        ),
    ),
)
_LINE = re.compile(r"^\[([^\[\]]+)\].*$", re.MULTILINE)


class Told(NamedTuple):
    """A fact that the person states, and the question that it answers."""

    person: str
    statement: str
    question: str
    value: str


class Answered(NamedTuple):
    """An answer, and the form in which a block showed the item that it was taken from."""

    text: str
    used: str | None


@dataclass
class Chat:
    """Items that answers were taken from, and what the ratings made of them."""

    ways: Sequence[int]
    """Ways to answer, one after the other."""
    used: list[str] = field(default_factory=list)
    """Id of the item of each answer."""
    episode_of: dict[str, str] = field(default_factory=dict)
    """Episodes of turns."""
    answers: int = 0

    def next_way(self) -> int:
        """Return the way of the next answer."""
        self.answers += 1
        return self.ways[self.answers % len(self.ways)]

    def note(self, done: Answered, shown: Mapping[str, str]) -> None:
        """Note the item that an answer was taken from."""
        if done.used is not None:
            self.used.append(shown.get(done.used, done.used))

    def row(self, memory: Handle) -> Row:
        """Return the figures of the report."""
        rated, items = self.rated(memory)
        return {
            "answered": len(self.used),
            "used": items,
            "rated": rated,
            "share": rated / items,
            "wanted": f">= {WANTED}",
            "met": rated >= WANTED * items,
        }

    def rated(self, memory: Handle) -> tuple[int, int]:
        """Return how many of the items that were used are rated, and how many there are."""
        rated = {one.id for one in memory.usage.ratings(limit=1_000)}
        items = {self.episode_of.get(one, one) for one in self.used}
        return len(items & rated), len(items)


def measure(steps: Steps) -> Report:
    """Return the share of the used items that is rated, for each way to answer."""
    rows: list[Row] = []
    ways = {name: (way,) for way, name in enumerate(NAMES)} | {"all three in turn": WAYS}
    with fresh_server(steps.say) as settings, GraphMem.open(settings=settings) as client:
        for name, used in ways.items():
            for path in ("respond", "MCP"):
                steps.say(f"{path}: {name}")
                clock = FrozenClock(STARTED)
                memory = with_ports(client, clock, None).tenant(f"{path}-{len(rows)}")
                chat = (
                    by_mcp(settings, client.tenant(f"{path}-{len(rows)}"), SESSIONS, used)
                    if path == "MCP"
                    else by_respond(memory, SESSIONS, clock, used)
                )
                rows.append({"path": path, "answers": name, **chat.row(memory)})
    return Report(
        name="chats",
        tables=[Table(f"{SESSIONS} sessions of {ASKED} questions", rows)],
        notes=[
            "Used: items that an answer of the scripted model was taken from.",
            "Over MCP the model names them in the next call of context, or asks why.",
        ],
        setting={"sessions": SESSIONS, "facts": len(facts())},
    )


def facts() -> list[Told]:
    """Return the facts that the person states, in order."""
    told = [
        Told(person, said.format(person, values[n]), asked.format(person), values[n])
        for (said, asked, values), (n, person) in product(FACTS, enumerate(PEOPLE))
    ]
    np.random.default_rng(1).shuffle(told)
    return told


def sessions(number: int) -> Iterator[tuple[Told | None, list[Told]]]:
    """Yield the fact and the questions of each session; some facts are asked about often."""
    told, draw = facts(), np.random.default_rng(2)
    for n in range(number):
        known = told[: max(n, 1)]
        weights = 1 / np.arange(1, len(known) + 1)
        drawn = draw.choice(len(known), ASKED, p=weights / weights.sum()) if n else ()
        yield (told[n] if n < len(told) else None), [known[place] for place in drawn]


def answer(block: str, asked: Told, way: int) -> Answered:
    """Answer from a block: with the id, in the words of the item, or with the value only."""
    for line in _LINE.finditer(block):
        if asked.person in line[0] and asked.value in line[0]:
            if way == 0:
                return Answered(f"{asked.value} [{line[1]}].", line[1])
            return Answered(asked.statement if way == 1 else f"{asked.value}.", line[1])
    return Answered("I do not know that.", None)


def by_respond(memory: Handle, number: int, clock: FrozenClock, ways: Sequence[int] = WAYS) -> Chat:
    """Hold the conversations with `respond`, and nothing else."""
    chat = Chat(ways)
    for n, (told, questions) in enumerate(sessions(number)):
        with memory.session(f"chat-{n}") as session:
            if told:
                _responded(session, told.statement, lambda _: Answered("Noted.", None), chat)
            for asked in questions:
                way = chat.next_way()
                reply = _responded(
                    session, asked.question, partial(answer, asked=asked, way=way), chat
                )
                chat.note(*reply)
                clock.advance(timedelta(minutes=1))
        clock.advance(timedelta(hours=8))
    memory.usage.rate()
    return chat


def _responded(
    session: Session, text: str, model: Callable[[str], Answered], chat: Chat
) -> tuple[Answered, dict[str, str]]:
    """Return the answer of a model that reads the block, and the ids by their forms in it."""
    found: list[Answered] = []

    def complete(messages: PromptMessages) -> str:
        found.append(model(messages.system))
        return found[0].text

    done = session.respond([{"role": "user", "content": text}], complete)
    chat.episode_of |= dict.fromkeys(done.receipt.turn_ids, done.receipt.episode_id)
    return found[0], done.context.shown


def by_mcp(settings: Settings, memory: Handle, number: int, ways: Sequence[int] = WAYS) -> Chat:
    """Hold the conversations over the default tools of MCP, and nothing else."""
    chat = asyncio.run(_by_mcp(settings, memory, number, Chat(ways)))
    memory.usage.rate()
    return chat


async def _by_mcp(settings: Settings, memory: Handle, number: int, chat: Chat) -> Chat:
    caller = Caller(memory._state.context.tenant, memory._state.context.scope, False)
    handler = RequestHandler(MemoryConnection(settings, wait_s=300), lambda _: caller, "core")
    async with Client(create_server(handler), mode="legacy") as client:
        for n, (told, questions) in enumerate(sessions(number)):
            named = {"session_id": f"chat-{n}"}
            if told:
                await _call(client, "remember", content=told.statement, **named)
            used: dict[str, Any] = {}
            for asked in questions:
                found = await _call(client, "context", about=asked.question, **named, **used)
                done = answer(found["text"], asked=asked, way=chat.next_way())
                chat.note(done, found["shown"])
                used = {"used": [done.used]} if done.used else {}
                if done.used and chat.answers % WHY == 0:
                    await _call(client, "why", item_id=done.used, **named)
    return chat


async def _call(client: Client, tool: str, **given: Any) -> Any:
    done = await client.call_tool(tool, given)
    if done.is_error:
        raise RuntimeError(done.content)
    return done.structured_content
