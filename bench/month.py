"""A month of conversations with an agent, three a day, and the worker at the end of each day."""

from __future__ import annotations

import itertools
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, LiteralString

from bench import month_talk
from bench.bare import Bare
from bench.conversations import read_conversations
from bench.figures import Cell, Report, Table
from bench.locomo import data_folder
from bench.month_talk import SCOPES, Visit
from bench.server import fresh_server
from graphmem import GraphMem, Handle
from graphmem.client import connect
from graphmem.model import Belief, CommitOutcome, Episode, EvidenceReceipt
from graphmem.model.policies import ConsolidationPolicy
from graphmem.testing import FrozenClock, ScriptedLlm

if TYPE_CHECKING:
    from bench.progress import Steps
    from graphmem.ports import Embedder, Llm, Prompt
    from graphmem.settings import Settings
    from graphmem.upkeep import JobRun

STARTED = datetime.combine(datetime.now(UTC).date() + timedelta(days=1), datetime.min.time(), UTC)
"""The first day is tomorrow, because the worker extracts a session whose turns the server recorded
ten minutes before the client's time."""
DAYS = 30
QUIET_DAYS = 7
"""Days after the month on which only the worker runs, so that the first week's conversations become
older than 30 days."""
WORKED_AT = timedelta(hours=21)
ASKED = 3
"""Number of messages of a session with which the agent asks for its context."""
TOKENS = 600
STATED = "Ask before booking anything that costs more than 50 euros."
KINDS = ("GRADUATE", "COMPRESS", "ARCHIVE")
SHARES = (0.3, 0.5, 0.7)
"""Bounds between the ranges of importance that are counted."""

_LOVED = re.compile(
    r'^(t\d+) [^"]*".*?\b(I love (?:the |a |an |my )?(\w[\w ]{2,30}\w))[.!,]', re.MULTILINE
)

# Jobs are due by the server's clock, which hardly moves during a simulated day.
A_DAY_LATER: LiteralString = """CYPHER 25
MATCH (j:Job {tenant: $tenant})
SET j.due_at = j.due_at - duration({days: 1})
"""


@dataclass(frozen=True, slots=True)
class MonthResult:
    """State of a tenant after the month, and what happened on the way."""

    turns: int
    opened: int
    """Number of results that the agent opened."""
    runs: tuple[JobRun, ...]
    episodes: tuple[Episode, ...]
    reasons: dict[str, dict[str, str]]
    """Reasons of GRADUATE, COMPRESS and ARCHIVE events, by type and episode id."""
    planned: frozenset[tuple[str, str]]
    """Kind and id of everything that a plan of pruning ever contained."""
    pinned: frozenset[str]
    """Episodes pinned on the first day, or when they were first planned."""
    spared: frozenset[str]
    """Episodes that a plan contained until they were pinned."""
    pinned_planned: frozenset[str]
    """Episodes that a plan contained although they were pinned."""
    stated: tuple[str, ...]
    """Statuses of what was stated on the first day."""
    beliefs: tuple[Belief, ...]
    """Beliefs made by the worker, archived ones too."""

    @property
    def failures(self) -> list[JobRun]:
        """Return the runs of jobs that failed."""
        return [run for run in self.runs if run.error]


@dataclass(slots=True)
class _Month:
    client: GraphMem
    clock: FrozenClock
    bare: Bare
    tenant: str
    digests: Path
    runs: list[JobRun] = field(default_factory=list)
    planned: set[tuple[str, str]] = field(default_factory=set)
    pinned_planned: set[str] = field(default_factory=set)
    pinned: set[str] = field(default_factory=set)
    spared: set[str] = field(default_factory=set)
    turns: int = 0
    opened: int = 0

    def handle(self, scope: str) -> Handle:
        return self.client.tenant(self.tenant).scope(scope)

    def visit(self, visit: Visit) -> None:
        """Talk for one session: read the context of some messages, open a result, add all."""
        self.clock.set(visit.at)
        with self.handle(visit.scope).session(visit.session) as session:
            step = max(1, len(visit.turns) // ASKED)
            for n, (name, text) in enumerate(visit.turns):
                if n % step == 0:
                    found = session.context(text, tokens=TOKENS)
                    if found.ids and n == 0:
                        session.expand(found.ids[0])
                        self.opened += 1
                self.clock.advance(timedelta(minutes=1))
                session.add_messages(
                    [{"role": "user", "name": name, "content": text, "at": self.clock.now()}]
                )
                self.turns += 1

    def work(self, day: datetime) -> None:
        """Run the worker once, and note what pruning plans."""
        self.clock.set(day + WORKED_AT)
        self.bare.write(A_DAY_LATER, tenant=self.tenant)
        report = self.client.run_jobs(tenants=[self.tenant], digests=self.digests)
        self.runs += report.runs
        for scope in SCOPES:
            self.plan(scope)

    def plan(self, scope: str) -> list[str]:
        items = self.handle(scope).usage.prune(dry_run=True).items
        self.planned |= {(item.kind, item.id) for item in items}
        self.pinned_planned |= {item.id for item in items} & self.pinned
        return [item.id for item in items]

    def pin(self, scope: str, episode_id: str) -> None:
        self.handle(scope).episodes.pin(episode_id)
        self.pinned.add(episode_id)

    def prune(self) -> None:
        """Pin the first planned episode of each scope, then prune what is still planned."""
        for scope in SCOPES:
            planned = self.plan(scope)
            if planned:
                self.pin(scope, planned[0])
                self.spared.add(planned[0])
                self.plan(scope)
            self.handle(scope).usage.prune(dry_run=False)

    def episodes(self, scope: str) -> Sequence[Episode]:
        return self.handle(scope).episodes.list(include_archived=True, limit=1_000).episodes

    def beliefs(self, scope: str) -> Sequence[Belief]:
        return self.handle(scope).beliefs.list(include_archived=True, limit=1_000).beliefs

    def reasons(self, episodes: Iterable[Episode]) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
        for one in episodes:
            for event in self.handle(one.scope).history(one.id):
                if event.type in KINDS:
                    found[event.type][one.id] = str(event.payload.get("reason", ""))
        return found

    def statuses(
        self, texts: Sequence[CommitOutcome], facts: Sequence[EvidenceReceipt]
    ) -> tuple[str, ...]:
        found: list[str] = []
        for scope, text, fact in zip(SCOPES, texts, facts, strict=True):
            handle = self.handle(scope)
            found.append(handle.memories.get(str(text.memory_id)).status)
            found.append(handle.beliefs.get(fact.belief_id).status)
        return tuple(found)


def live(
    client: GraphMem,
    bare: Bare,
    visits: Sequence[Visit],
    *,
    tenant: str,
    digests: Path,
    llm: Llm | None = None,
) -> MonthResult:
    """Live through the visits and some quiet days; return what is left.

    Args:
        client: open client; only its clock and model are replaced.
        bare: connection that moves the times of jobs.
        visits: the sessions, in order.
        tenant: name of an unused tenant.
        digests: folder of the digests.
        llm: language model of the worker; None for none.
    """
    clock = FrozenClock(STARTED)
    month = _Month(with_ports(client, clock=clock, llm=llm), clock, bare, tenant, digests)
    stated = [month.handle(scope).remember(STATED) for scope in SCOPES]
    facts = [
        month.handle(scope).observe("user", "allergic_to", "penicillin", confidence=1.0)
        for scope in SCOPES
    ]
    by_day = {day: list(rest) for day, rest in itertools.groupby(visits, lambda one: one.day)}
    for n in range(DAYS + QUIET_DAYS):
        day = STARTED + timedelta(days=n)
        for visit in by_day.get(n, ()):
            month.visit(visit)
        if n == 0:
            for scope in SCOPES:
                month.pin(scope, month.handle(scope).episodes.list().episodes[0].id)
        month.work(day)
    month.prune()
    episodes = [one for scope in SCOPES for one in month.episodes(scope)]
    given = {one.belief_id for one in facts}
    return MonthResult(
        turns=month.turns,
        opened=month.opened,
        runs=tuple(month.runs),
        episodes=tuple(episodes),
        reasons=month.reasons(episodes),
        planned=frozenset(month.planned),
        pinned=frozenset(month.pinned),
        spared=frozenset(month.spared),
        pinned_planned=frozenset(month.pinned_planned),
        stated=month.statuses(stated, facts),
        beliefs=tuple(
            one for scope in SCOPES for one in month.beliefs(scope) if one.id not in given
        ),
    )


def with_ports(client: GraphMem, clock: FrozenClock, llm: Llm | None) -> GraphMem:
    """Return the client on another clock and language model; it shares the connections."""
    context = client._state.context
    services = replace(context.services, clock=clock, llm=llm)
    return GraphMem(replace(client._state, context=replace(context, services=services)))


def scripted(prompt: Prompt[Any]) -> dict[str, Any]:
    """Return a model's reply: what people love, and the first passage of a cluster."""
    if prompt.name == "extract":
        return {
            "proposals": [
                {
                    "turn": key,
                    "quote": quote,
                    "subject": "user",
                    "predicate": "loves",
                    "object": loved,
                    "confidence": 0.8,
                    "cardinality": "MANY",
                }
                for key, quote, loved in _LOVED.findall(prompt.user)
            ]
        }
    shown = re.findall(r'^(e\d+) \S+ "(.*)"$', prompt.user, re.MULTILINE)
    return {
        "statement": shown[0][1],
        "confidence": 0.8,
        "episodes": [key for key, _ in shown],
    }


def measure(steps: Steps) -> Report:
    """Return what a month leaves, on LoCoMo and on invented talk, without and with a model."""
    real = read_conversations(data_folder() / "locomo" / "locomo.json")
    talks: dict[str, Sequence[Visit]] = {
        "LoCoMo": month_talk.locomo(real, STARTED, DAYS),
        "invented": month_talk.invented(STARTED, DAYS),
    }
    rows: list[dict[str, Cell]] = []
    with fresh_server(steps.say) as settings:
        for talk, visits in talks.items():
            for model, llm in (("none", None), ("scripted", ScriptedLlm(scripted))):
                steps.say(f"a month of {talk} talk, model {model}")
                started = time.perf_counter()
                with opened(settings) as (client, bare), TemporaryDirectory() as folder:
                    tenant = f"{talk} {model}"
                    result = live(
                        client, bare, visits, tenant=tenant, digests=Path(folder), llm=llm
                    )
                took = time.perf_counter() - started
                rows.append({"talk": talk, "model": model} | row(result) | {"s": round(took)})
                steps.say(", ".join(f"{name} {value}" for name, value in rows[-1].items()))
    return Report(
        name="month",
        tables=[Table("month", rows)],
        notes=[
            f"{DAYS} days with three sessions each, one in each of three scopes, then "
            f"{QUIET_DAYS} days without; run_jobs() at the end of each day; the shipped policies.",
            "Importance: least, median, most, and numbers of episodes below, between and above "
            f"{', '.join(map(str, SHARES))}.",
            "The scripted model proposes what people say they love, and a cluster's first passage.",
        ],
        setting={"days": DAYS, "sessions": 3 * DAYS},
    )


@contextmanager
def opened(settings: Settings, embedder: Embedder | None = None) -> Iterator[tuple[GraphMem, Bare]]:
    """Yield a client, for which consolidation is due each day, and a bare connection.

    The last run of a consolidation has a time of the server's clock, which hardly moves here. With
    the shipped interval of four hours, it would be due at the end of each day too.
    """
    daily = ConsolidationPolicy(interval_hours=1e-9)
    known = settings.model_copy(update={"consolidation": daily})
    with (
        GraphMem.open(settings=known, embedder=embedder) as client,
        Bare(connect.address(known, lambda _: None)) as bare,
    ):
        yield client, bare


def row(result: MonthResult) -> dict[str, Cell]:
    """Return the figures of a month."""
    importances = [one.importance for one in result.episodes]
    bounds = [0.0, *SHARES, 1.0]
    counts = [
        sum(low <= one < high for one in importances) for low, high in itertools.pairwise(bounds)
    ]
    by_status = Counter(str(one.status) for one in result.beliefs)
    return {
        "sessions": len(result.episodes),
        "turns": result.turns,
        "opened": result.opened,
        "with summary": sum(bool(one.summary) for one in result.episodes),
        "importance": f"{min(importances):.2f}, {median(importances):.2f}, {max(importances):.2f}",
        "by range": ", ".join(map(str, counts)),
        **{kind: len(result.reasons[kind]) for kind in KINDS},
        "pinned ones planned": len(result.pinned_planned),
        "planned, no episode": sum(kind != "Episode" for kind, _ in result.planned),
        "beliefs": by_status["current"],
        "beliefs archived": by_status["archived"],
        "jobs failed": len(result.failures),
    }
