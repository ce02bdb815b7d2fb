"""A month of conversations with an agent, three a day, and the worker at the end of each day."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, LiteralString
from unittest import mock

from bench import month_talk
from bench.bare import Bare
from bench.conversations import read_conversations
from bench.figures import Cell, Report, Table
from bench.locomo import data_folder
from bench.month_beliefs import Made, ToldModel, Verdict, invented, judge
from bench.month_talk import ASSISTANT, SCOPES, Talk, Visit
from bench.server import fresh_server
from graphmem import GraphMem, Handle
from graphmem.client import connect, worker
from graphmem.model import Belief, CommitOutcome, Episode, EvidenceKind, EvidenceReceipt
from graphmem.model.policies import ConsolidationPolicy
from graphmem.testing import FrozenClock, ScriptedLlm

if TYPE_CHECKING:
    from bench.progress import Steps
    from graphmem.jobs import JobRun
    from graphmem.ports import Embedder, Llm
    from graphmem.settings import Settings

STARTED = datetime.combine(datetime.now(UTC).date() + timedelta(days=1), datetime.min.time(), UTC)
"""The first day is tomorrow, so that nothing is recorded later than the client's time."""
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

MIN_BELIEFS, MIN_MODEL_BELIEFS, MIN_PRECISION, MIN_GRADUATED = 8, 20, 0.8, 1
"""Goals of the month of ordinary talk."""

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
    """Beliefs made by the worker or by the rules of sessions, archived ones too."""
    made: tuple[Made, ...]
    """Current beliefs that consolidation made."""

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
                who = {"role": ASSISTANT} if name == ASSISTANT else {"role": "user", "name": name}
                session.add_messages([who | {"content": text, "at": self.clock.now()}])
                self.turns += 1

    def work(self, day: datetime) -> None:
        """Run the worker once, and note what pruning plans."""
        self.clock.set(day + WORKED_AT)
        self.bare.write(A_DAY_LATER, tenant=self.tenant)
        # By the server's clock, no session of the day has been quiet for long.
        with mock.patch.object(worker, "QUIET_S", 0.0):
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

    def made(self, scope: str, given: set[str]) -> Iterator[Made]:
        """Yield the current beliefs that consolidation made."""
        for one in self.beliefs(scope):
            if one.id in given or one.status != "current":
                continue
            found = self.handle(scope).beliefs.provenance(one.id, limit=1_000)
            support = [
                event
                for event in found.events
                if event.kind is EvidenceKind.SUPPORTING and not event.retracted
            ]
            if not support or support[0].source != "consolidation":
                continue
            quoted = {event.turn_id for event in support}
            turns = [turn for turn in found.turns if turn.id in quoted]
            yield Made(
                scope=scope,
                statement=one.statement,
                depth=one.depth,
                quotes=tuple(turn.text for turn in turns),
                speakers=frozenset(filter(None, (turn.name for turn in turns))),
                parts=tuple(part.statement for part in found.derived_from),
            )

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
    talk: Talk,
    *,
    tenant: str,
    digests: Path,
    llm: Llm | None = None,
) -> MonthResult:
    """Live through the visits and some quiet days; return what is left.

    Args:
        client: open client; only its clock and model are replaced.
        bare: connection that moves the times of jobs.
        talk: the sessions, in order.
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
    by_day = {day: list(rest) for day, rest in itertools.groupby(talk.visits, lambda one: one.day)}
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
    given = {str(one.belief_id) for one in facts}
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
        made=tuple(one for scope in SCOPES for one in month.made(scope, given)),
    )


def with_ports(client: GraphMem, clock: FrozenClock, llm: Llm | None) -> GraphMem:
    """Return the client on another clock and language model; it shares the connections."""
    context = client._state.context
    services = replace(context.services, clock=clock, llm=llm)
    return GraphMem(replace(client._state, context=replace(context, services=services)))


def measure(talks: Sequence[str], steps: Steps) -> Report:
    """Return what a month of each talk leaves, without and with a model."""
    rows: list[dict[str, Cell]] = []
    beliefs: list[dict[str, Cell]] = []
    made: list[dict[str, Cell]] = []
    with fresh_server(steps.say) as settings:
        for name in talks:
            talk = talk_named(name)
            for model in ("none", "scripted"):
                steps.say(f"a month of {name} talk, model {model}")
                told = ToldModel(talk.facts)
                llm = None if model == "none" else ScriptedLlm(told)
                started = time.perf_counter()
                with opened(settings) as (client, bare), TemporaryDirectory() as folder:
                    tenant = f"{name} {model}"
                    result = live(client, bare, talk, tenant=tenant, digests=Path(folder), llm=llm)
                took = time.perf_counter() - started
                of: dict[str, Cell] = {"talk": name, "model": model}
                rows.append(of | row(result) | {"s": round(took)})
                beliefs.append(of | belief_row(talk, result, told))
                made += [
                    of
                    | {"scope": one.scope, "belief": one.statement, "depth": one.depth}
                    | {"verdict": judge(talk, one) if talk.facts else None}
                    | {"quotes": " | ".join(one.quotes)}
                    for one in result.made
                ]
                steps.say(", ".join(f"{key} {value}" for key, value in beliefs[-1].items()))
    return Report(
        name="month",
        tables=[Table("month", rows), Table("beliefs", beliefs)],
        notes=[
            f"{DAYS} days with three sessions each, one in each of three scopes, then "
            f"{QUIET_DAYS} days without; run_jobs() at the end of each day; the shipped policies.",
            "Importance: least, median, most, and numbers of episodes below, between and above "
            f"{', '.join(map(str, SHARES))}.",
            "Ordinary talk is made from templates, so it is known which turn states which fact. A "
            "belief is right if all turns that it quotes state one fact that holds, and so does "
            "its statement; outdated if the fact was replaced. Found: facts stated in three "
            "sessions or more that have a right belief.",
            "The scripted model knows the facts. About every second one it first adds a name, a "
            "number, a date or a negation that no turn has. On LoCoMo it repeats the first "
            "passage of each cluster, and proposes what people say they love.",
        ],
        setting={"days": DAYS, "sessions": 3 * DAYS},
        details={"made": made},
    )


def talk_named(name: str) -> Talk:
    """Return a talk by its name: `ordinary` or `LoCoMo`."""
    if name == "ordinary":
        return month_talk.ordinary(STARTED, DAYS)
    real = read_conversations(data_folder() / "locomo" / "locomo.json")
    return month_talk.locomo(real, STARTED, DAYS)


def belief_row(talk: Talk, result: MonthResult, told: ToldModel) -> dict[str, Cell]:
    """Return the figures of the beliefs that consolidation made, and whether they meet the goals.

    Goals are for talk with known facts only.
    """
    single = [one for one in result.made if not one.parts]
    verdicts = Counter(judge(talk, one) for one in single)
    known = bool(talk.facts)
    right = {
        (one.scope, fact.statement)
        for one in single
        for fact in talk.facts
        if fact.scope == one.scope
        and fact.turns.issuperset(one.quotes)
        and judge(talk, one) is not Verdict.WRONG
    }
    recurring = sum(one.recurs for one in talk.facts)
    precision = verdicts[Verdict.RIGHT] / len(single) if known and single else None
    inventions = sum(bool(invented(one)) for one in result.made)
    graduated = len(result.reasons["GRADUATE"])
    least = MIN_MODEL_BELIEFS if told.asked else MIN_BELIEFS
    return {
        "made": len(single),
        "right": verdicts[Verdict.RIGHT] if known else None,
        "outdated": verdicts[Verdict.OUTDATED] if known else None,
        "precision": precision,
        "found": f"{len(right)} of {recurring}" if known else None,
        "of beliefs": len(result.made) - len(single),
        "model erred": len(told.erred),
        "invented": inventions,
        "graduated": graduated,
        "model asked": ", ".join(f"{name} {count}" for name, count in told.asked.items()),
        "wanted": f"made >= {least}, precision >= {MIN_PRECISION:g}, invented 0, "
        f"graduated >= {MIN_GRADUATED}"
        if known
        else "invented 0",
        "met": inventions == 0
        and (
            not known
            or (
                len(single) >= least
                and precision is not None
                and precision >= MIN_PRECISION
                and graduated >= MIN_GRADUATED
            )
        ),
    }


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
