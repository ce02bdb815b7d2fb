"""How good the beliefs are that consolidation makes offline: beside facts, and in conversations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from bench import consolidation_scores as scores
from bench.consolidation_scores import Facts, percent
from bench.consolidation_sweeps import LEAST, NEAR, Swept, intervals
from bench.consolidation_talks import (
    BEAM,
    DRAWS,
    GENERATED,
    HELD_IN,
    LOCOMO,
    Bench,
    Predicted,
    Row,
    Talk,
    conversations,
    cut,
    facts_in,
    generated,
    predicted,
    shares,
    split,
)
from bench.figures import Report, Table
from bench.histories import History
from bench.locomo import data_folder
from bench.server import connected, fresh_server
from graphmem.model import BeliefChange, BeliefChangeKind, ConsolidationReport, EvidenceKind

if TYPE_CHECKING:
    from bench.progress import Steps

SEEDS = (1, 2, 3)
"""Of the generated histories."""
SWEPT_TALKS, STEPPED_TALKS = 3, 1
"""Of LoCoMo's conversations, so many are swept, and consolidated at intervals."""
ONCE, PART = "at once", "held in"


def measure(steps: Steps, *, beam: bool) -> Report:
    """Return how good beliefs are on generated histories, LoCoMo and, when asked for, BEAM.

    Raises:
        ConfigurationError: the data is not there.
    """
    folder = data_folder()
    made = [generated(seed) for seed in SEEDS]
    locomo = list(conversations(folder / "locomo" / "locomo.json"))
    paths = sorted(folder.glob("beam/*/chat.json")) if beam else []
    chats = [talk for path in paths for talk in conversations(path)]
    with (
        fresh_server(steps.say) as settings,
        connected(settings, None, steps.say) as (memory, bare),
    ):
        on = Bench(memory, steps)
        tables = [
            Table("known facts", [facts(on, made)]),
            Table("conversations", list(_real(on, {LOCOMO: locomo, BEAM: chats}))),
        ]
        swept = Swept.of(on, made, locomo[:SWEPT_TALKS])
        tables += [
            Table("sweep: near", [swept.row(steps, near=near) for near in NEAR]),
            Table(
                "sweep: least episodes",
                [swept.row(steps, least_episodes=least) for least in LEAST],
            ),
            Table(
                "interval",
                list(intervals(on, {GENERATED: made, LOCOMO: locomo[:STEPPED_TALKS]})),
            ),
        ]
        setting: Row = {"neo4j": bare.server_version(), "seeds": len(SEEDS)}
    return Report(
        name="consolidation-quality",
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


def facts(on: Bench, talks: Sequence[Talk]) -> Row:
    """Return how beliefs stand to known facts, and how one more episode speaks of them."""
    found: list[Facts] = []
    repeats: list[EvidenceKind | None] = []
    reversals: list[EvidenceKind | None] = []
    for talk in on.steps.over(talks, "known facts"):
        assert talk.history is not None  # noqa: S101 - all of these are generated
        handle = on.told(ONCE, talk, talk.sessions)
        done = handle.consolidate(policy=talk.policy())
        found.append(facts_in(done.changes, talk, talk.policy()))
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
        "repeats support": percent(repeats.count(EvidenceKind.SUPPORTING), len(repeats)),
        "repeats refute": percent(repeats.count(EvidenceKind.REFUTING), len(repeats)),
        "reversals refute": percent(reversals.count(EvidenceKind.REFUTING), len(reversals)),
        "reversals support": percent(reversals.count(EvidenceKind.SUPPORTING), len(reversals)),
    }


def _about(changes: Sequence[BeliefChange], history: History) -> dict[str, int]:
    """Return the fact of each belief that rests on one alone."""
    about = {}
    for change in changes:
        of = scores.facts_of(change, history)
        if change.step is BeliefChangeKind.CREATE and len(of) == 1:
            [one] = of
            if one is not None:
                about[change.belief_id] = one
    return about


def _heard(
    changes: Sequence[BeliefChange], about: Mapping[str, int], fact: int, text: str
) -> EvidenceKind | None:
    """Return how a text was taken for its fact; None: it spoke of none of its beliefs."""
    for change in changes:
        if about.get(change.belief_id) == fact and text in {q.text for q in change.quotes}:
            if change.step is BeliefChangeKind.CONTRADICT:
                return EvidenceKind.REFUTING
            if change.step is BeliefChangeKind.SUPPORT:
                return EvidenceKind.SUPPORTING
    return None


def _real(on: Bench, corpora: Mapping[str, Sequence[Talk]]) -> Iterator[Row]:
    for name, talks in corpora.items():
        if talks:
            yield conversations_row(on, name, talks)


def conversations_row(on: Bench, name: str, talks: Sequence[Talk]) -> Row:
    """Return what one corpus becomes, and how much of it later sessions bear out."""
    whole: list[ConsolidationReport] = []
    again: list[ConsolidationReport] = []
    part: list[Predicted] = []
    supported = 0
    for talk in on.steps.over(talks, name):
        handle = on.told(ONCE, talk, talk.sessions)
        whole.append(handle.consolidate(policy=talk.policy()))
        again.append(handle.consolidate(policy=talk.policy()))
        halves = split(on, talk, PART)
        part.append(predicted(halves, talk.policy()))
        first = halves.held.consolidate(policy=talk.policy())
        rest = on.told(PART, talk, talk.sessions[cut(talk) :]).consolidate(policy=talk.policy())
        borne = {one.belief_id for one in rest.changes if one.step is BeliefChangeKind.SUPPORT}
        supported += len(scores.created(first.changes) & borne)
    stands = [ok for one in whole for ok in scores.quoted(one.changes).values()]
    episodes = sum(one.episodes for one in whole)
    return {
        "corpus": name,
        "conversations": len(talks),
        "episodes": episodes,
        "passages": sum(one.passages for one in whole),
        "clusters": sum(one.clusters for one in whole),
        "per 1,000 episodes": round(1_000 * sum(one.clusters for one in whole) / episodes, 1),
        "beliefs": len(stands),
        "stand in a quote": percent(sum(stands), len(stands)),
        "beliefs held in": sum(one.beliefs for one in part),
        "supported later": percent(supported, sum(one.beliefs for one in part)),
        **shares(part),
        "changed again": sum(len(one.changes) for one in again),
    }
