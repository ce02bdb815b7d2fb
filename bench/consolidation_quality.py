"""How good the beliefs are that consolidation makes offline: beside facts, and in conversations."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bench import consolidation_scores as scores
from bench import histories
from bench.consolidation_scores import Facts, percent
from bench.figures import Cell, Report, Table
from bench.histories import History
from bench.locomo import data_folder
from bench.server import connected, fresh_server
from graphmem.adapters.conversations import read_conversations
from graphmem.model import Change, Consolidated, ConsolidationPolicy, Kind, Step
from graphmem.ports import Role, run_now
from graphmem.rules import gathering, passages
from graphmem.rules.passages import Passage

if TYPE_CHECKING:
    from bench.progress import Steps
    from graphmem.client import GraphMem
    from graphmem.ports import Matrix

SEEDS = (1, 2, 3)
"""Of the generated histories."""
HELD_IN = 0.7
"""Share of a conversation's sessions that beliefs are made of."""
NEAR = (0.65, 0.70, 0.75, 0.80, 0.85)
LEAST = (2, 3, 4, 5)
EVERY = (1, 5, 20)
"""Sessions between two runs."""
SWEPT_TALKS, STEPPED_TALKS = 3, 1
"""Of LoCoMo's conversations, so many are swept, and consolidated at intervals."""
DRAWS = 20
"""Of random statements."""
ONCE, PART, SWEPT = "at once", "held in", "swept"
GENERATED, LOCOMO, BEAM = "generated", "LoCoMo", "BEAM"

Session: TypeAlias = tuple[str, Sequence[Any]]
Row: TypeAlias = dict[str, Cell]


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation or history, in sessions; each way of keeping it has a tenant of its own."""

    name: str
    sessions: tuple[Session, ...]
    history: History | None = None
    """None: nobody knows what it should teach."""

    @property
    def start(self) -> int:
        """How many sessions a run waits for: what the policy says, or what a short one has."""
        return min(ConsolidationPolicy().start, round(len(self.sessions) * HELD_IN))

    def policy(self, **changed: Any) -> ConsolidationPolicy:
        """Return the standard policy, changed."""
        return ConsolidationPolicy(start=self.start, **changed)


@dataclass(frozen=True, slots=True)
class Bench:
    """What is measured on."""

    memory: GraphMem
    steps: Steps

    def told(self, way: str, talk: Talk, sessions: Sequence[Session]) -> GraphMem:
        """Return a handle that holds these sessions, in a tenant named after the way."""
        handle = self.memory.tenant(f"{way} {talk.name}")
        for name, messages in sessions:
            handle.session(name).add_messages(messages)
        return handle


@dataclass(frozen=True, slots=True)
class Split:
    """A conversation in two: a handle on its first sessions, and what people tell in the others."""

    held: GraphMem
    before: Sequence[Passage]
    later: Sequence[Passage]
    vectors: Matrix
    """Of what is told later."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """How many statements what came later speaks for."""

    beliefs: int
    supported: int
    drawn: float
    """Of as many random telling passages, the mean over the draws."""


def measure(steps: Steps, *, beam: bool) -> Report:
    """Return how good beliefs are on generated histories, LoCoMo and, when asked for, BEAM.

    Raises:
        ConfigurationError: the data is not there.
    """
    folder = data_folder()
    generated = [_generated(seed) for seed in SEEDS]
    locomo = list(_conversations(folder / "locomo" / "locomo.json"))
    paths = sorted(folder.glob("beam/*/chat.json")) if beam else []
    chats = [talk for path in paths for talk in _conversations(path)]
    with (
        fresh_server(steps.say) as settings,
        connected(settings, None, steps.say) as (memory, bare),
    ):
        on = Bench(memory, steps)
        tables = [
            Table("known facts", [facts(on, generated)]),
            Table("conversations", list(_real(on, {LOCOMO: locomo, BEAM: chats}))),
        ]
        swept = Swept.of(on, generated, locomo[:SWEPT_TALKS])
        tables += [
            Table("sweep: near", [swept.row(steps, near=near) for near in NEAR]),
            Table(
                "sweep: least episodes",
                [swept.row(steps, least_episodes=least) for least in LEAST],
            ),
            Table(
                "interval",
                list(_intervals(on, {GENERATED: generated, LOCOMO: locomo[:STEPPED_TALKS]})),
            ),
        ]
        setting: Row = {"neo4j": bare.server_version(), "seeds": len(SEEDS)}
    return Report(
        name="consolidation",
        tables=tables,
        notes=[
            "Extractive, the offline embedder, shares in percent. Known facts: precision, beliefs "
            "that rest on one fact and nothing else; recall, facts told in enough episodes that "
            "have such a belief; mixed, the others. Afterwards every fact is said once more in new "
            "words (repeats), and then that it is so no longer (reversals).",
            f"Held out: beliefs of the first {HELD_IN:.0%} of the sessions that the rest speaks "
            f"for; random: as many telling passages instead, {DRAWS} draws.",
            "Interval: a run after so many sessions, and at the end; Jaccard of the beliefs with "
            "those of one run over everything; absorbed: of the passages that rest on a belief "
            "there, those that do here.",
        ],
        setting=setting,
    )


def _generated(seed: int) -> Talk:
    history = histories.made(seed=seed)
    return Talk(f"{GENERATED} {seed}", tuple(history.messages()), history)


def _conversations(path: Any) -> Iterator[Talk]:
    for one in read_conversations(path).conversations:
        groups = itertools.groupby(one.messages, lambda message: str(message.session))
        yield Talk(one.name, tuple((name, list(messages)) for name, messages in groups))


def facts(on: Bench, talks: Sequence[Talk]) -> Row:
    """Return how beliefs stand to known facts, and how one more episode speaks of them."""
    found: list[Facts] = []
    repeats: list[Kind | None] = []
    reversals: list[Kind | None] = []
    for talk in on.steps.over(talks, "known facts"):
        assert talk.history is not None  # noqa: S101 - all of these are generated
        handle = on.told(ONCE, talk, talk.sessions)
        done = handle.consolidate(policy=talk.policy())
        found.append(_facts(done.changes, talk, talk.policy()))
        about = _about(done.changes, talk.history)
        for said, into in (("repeat", repeats), ("reversal", reversals)):
            texts = {n: getattr(talk.history.facts[n], said) for n in about.values()}
            for n, text in texts.items():
                message = {"role": "user", "content": text, "id": f"{said} {n}"}
                handle.session(f"{said} {n}").add_messages([message])
            more = handle.consolidate(policy=talk.policy())
            into += [_heard(more.changes, about, n, text) for n, text in texts.items()]
    learnable = sum(len(talk.history.facts) for talk in talks if talk.history)
    return {
        "facts": learnable,
        **scores.facts_row(found),
        "repeats support": percent(repeats.count(Kind.SUPPORTING), len(repeats)),
        "repeats refute": percent(repeats.count(Kind.REFUTING), len(repeats)),
        "reversals refute": percent(reversals.count(Kind.REFUTING), len(reversals)),
        "reversals support": percent(reversals.count(Kind.SUPPORTING), len(reversals)),
    }


def _about(changes: Sequence[Change], history: History) -> dict[str, int]:
    """Return the fact of each belief that rests on one alone."""
    about = {}
    for change in changes:
        of = scores.facts_of(change, history)
        if change.step is Step.CREATE and len(of) == 1:
            [one] = of
            if one is not None:
                about[change.belief_id] = one
    return about


def _heard(
    changes: Sequence[Change], about: Mapping[str, int], fact: int, text: str
) -> Kind | None:
    """Return how a text was taken for its fact; None: it spoke of none of its beliefs."""
    for change in changes:
        if about.get(change.belief_id) == fact and text in {q.text for q in change.quotes}:
            if change.step is Step.CONTRADICT:
                return Kind.REFUTING
            if change.step is Step.SUPPORT:
                return Kind.SUPPORTING
    return None


def _real(on: Bench, corpora: Mapping[str, Sequence[Talk]]) -> Iterator[Row]:
    for name, talks in corpora.items():
        if talks:
            yield conversations_row(on, name, talks)


def conversations_row(on: Bench, name: str, talks: Sequence[Talk]) -> Row:
    """Return what one corpus becomes, and how much of it later sessions bear out."""
    whole: list[Consolidated] = []
    again: list[Consolidated] = []
    part: list[Predicted] = []
    supported = 0
    for talk in on.steps.over(talks, name):
        handle = on.told(ONCE, talk, talk.sessions)
        whole.append(handle.consolidate(policy=talk.policy()))
        again.append(handle.consolidate(policy=talk.policy()))
        split = _split(on, talk, PART)
        part.append(_predicted(split, talk.policy()))
        first = split.held.consolidate(policy=talk.policy())
        rest = on.told(PART, talk, talk.sessions[_cut(talk) :]).consolidate(policy=talk.policy())
        borne = {one.belief_id for one in rest.changes if one.step is Step.SUPPORT}
        supported += len(scores.created(first.changes) & borne)
    stands = [ok for one in whole for ok in scores.quoted(one.changes).values()]
    episodes = sum(one.episodes for one in whole)
    return {
        "corpus": name,
        "conversations": len(talks),
        "episodes": episodes,
        "passages": sum(one.passages for one in whole),
        "clusters": sum(one.clusters for one in whole),
        "per 1,000 passages": _thousand(whole),
        "beliefs": len(stands),
        "stand in a quote": percent(sum(stands), len(stands)),
        "beliefs held in": sum(one.beliefs for one in part),
        "supported later": percent(supported, sum(one.beliefs for one in part)),
        **_shares(part),
        "changed again": sum(len(one.changes) for one in again),
    }


def _thousand(runs: Sequence[Consolidated]) -> float | None:
    looked_at = sum(one.passages for one in runs)
    clusters = sum(one.clusters for one in runs)
    return round(1_000 * clusters / looked_at, 1) if looked_at else None


def _shares(part: Sequence[Predicted]) -> Row:
    beliefs = sum(one.beliefs for one in part)
    return {
        "held out": percent(sum(one.supported for one in part), beliefs),
        "random": percent(sum(one.drawn for one in part), beliefs),
    }


def _cut(talk: Talk) -> int:
    return round(len(talk.sessions) * HELD_IN)


def _split(on: Bench, talk: Talk, way: str) -> Split:
    """Keep the first sessions, and embed what people tell in the others."""
    before, after = talk.sessions[: _cut(talk)], talk.sessions[_cut(talk) :]
    held = on.told(way, talk, before)
    later = _passages(after)
    return Split(held, _passages(before), later, _embedded(held, [one.spoken for one in later]))


def _passages(sessions: Sequence[Session]) -> list[Passage]:
    """Return what people tell in these sessions."""
    return [
        Passage(f"{name}/{place}", "Turn", name, one.name, one.content, one.at)
        for name, messages in sessions
        for place, one in enumerate(messages)
        if one.role not in gathering.NOT_PEOPLE and passages.telling(one.content)
    ]


def _embedded(handle: GraphMem, texts: Sequence[str]) -> Matrix:
    return run_now(handle._state.binding.world.embedder.embed(texts, Role.DOCUMENT))


def _predicted(split: Split, policy: ConsolidationPolicy) -> Predicted:
    """Return how many of the beliefs that a run would make what came later speaks for."""
    done = split.held.consolidate(policy=policy, dry_run=True)
    made = list(dict.fromkeys(c.statement for c in done.changes if c.step is Step.CREATE))
    if not made:
        return Predicted(0, 0, 0.0)
    rng = np.random.default_rng(len(made))
    pool = sorted({passages.statement(one) for one in split.before})
    drawn = [
        [pool[i] for i in rng.choice(len(pool), size=len(made), replace=False)]
        for _ in range(DRAWS)
    ]
    texts = sorted({*made, *itertools.chain(*drawn)})
    place = {text: n for n, text in enumerate(texts)}
    vectors = _embedded(split.held, texts)

    def borne_out(statements: Sequence[str]) -> int:
        rows = vectors[[place[one] for one in statements]]
        mu = split.held._state.binding.model.mu_document
        spoken = scores.spoken_of(rows, statements, split.later, split.vectors, mu, policy.same)
        return len(spoken[Kind.SUPPORTING])

    return Predicted(len(made), borne_out(made), float(np.mean([borne_out(d) for d in drawn])))


@dataclass(frozen=True, slots=True)
class Swept:
    """What sweeps look at; nothing is written there."""

    generated: Sequence[tuple[Talk, GraphMem]]
    locomo: Sequence[tuple[Talk, Split]]

    @classmethod
    def of(cls, on: Bench, generated: Sequence[Talk], locomo: Sequence[Talk]) -> Swept:
        """Keep them in tenants of their own."""
        return cls(
            [(talk, on.told(SWEPT, talk, talk.sessions)) for talk in generated],
            [(talk, _split(on, talk, SWEPT)) for talk in on.steps.over(locomo, "to be swept")],
        )

    def row(self, steps: Steps, **changed: Any) -> Row:
        """Return precision and recall, and the share predicted, with the policy changed."""
        found: list[Facts] = []
        for talk, handle in self.generated:
            policy = talk.policy(**changed)
            done = handle.consolidate(policy=policy, dry_run=True)
            found.append(_facts(done.changes, talk, policy))
        title = ", ".join(f"{name} {value}" for name, value in changed.items())
        part = [
            _predicted(split, talk.policy(**changed))
            for talk, split in steps.over(self.locomo, title)
        ]
        return {
            **changed,
            **{f"{GENERATED} {name}": cell for name, cell in scores.facts_row(found).items()},
            f"{LOCOMO} beliefs": sum(one.beliefs for one in part),
            **{f"{LOCOMO} {name}": cell for name, cell in _shares(part).items()},
        }


def _facts(changes: Sequence[Change], talk: Talk, policy: ConsolidationPolicy) -> Facts:
    assert talk.history is not None  # noqa: S101 - it is a generated one
    return scores.against_facts(changes, talk.history, policy.least_episodes)


def _intervals(on: Bench, corpora: Mapping[str, Sequence[Talk]]) -> Iterator[Row]:
    for name, talks in corpora.items():
        once = [_in_steps(on, talk, None) for talk in talks]
        yield interval_row(name, "all", talks, once, once)
        for every in EVERY:
            runs = [_in_steps(on, talk, every) for talk in on.steps.over(talks, f"every {every}")]
            yield interval_row(name, every, talks, runs, once)


def _in_steps(on: Bench, talk: Talk, every: int | None) -> list[Change]:
    """Return all that was done when a run follows so many sessions; None: all of them."""
    step = every or len(talk.sessions)
    changes: list[Change] = []
    for start in range(0, len(talk.sessions), step):
        handle = on.told(f"every {every}", talk, talk.sessions[start : start + step])
        changes += handle.consolidate(policy=talk.policy()).changes
    return changes


def interval_row(
    name: str,
    every: int | str,
    talks: Sequence[Talk],
    runs: Sequence[Sequence[Change]],
    once: Sequence[Sequence[Change]],
) -> Row:
    """Return what runs at an interval made, beside one run over everything."""
    made = [scores.created(changes) for changes in runs]
    whole = [scores.created(changes) for changes in once]
    ours = {(n, one) for n, changes in enumerate(runs) for one in scores.absorbed(changes)}
    theirs = {(n, one) for n, changes in enumerate(once) for one in scores.absorbed(changes)}
    known = [
        scores.against_facts(changes, talk.history, talk.policy().least_episodes)
        for changes, talk in zip(runs, talks, strict=True)
        if talk.history is not None
    ]
    judged = scores.facts_row(known)
    return {
        "corpus": name,
        "sessions between runs": str(every),
        "beliefs": sum(map(len, made)),
        "precision": judged["precision"] if known else None,
        "recall": judged["recall"] if known else None,
        "Jaccard": scores.jaccard(
            {(n, one) for n, ids in enumerate(made) for one in ids},
            {(n, one) for n, ids in enumerate(whole) for one in ids},
        ),
        "absorbed": percent(len(ours & theirs), len(theirs)),
    }
