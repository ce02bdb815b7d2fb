"""Quality of the beliefs that consolidation forms offline, on known facts and on conversations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from bench.figures import Report, Table
from bench.locomo import data_folder
from bench.server import connected, fresh_server
from graphmem.consolidation import BeliefChange, BeliefChangeKind, ConsolidationReport
from graphmem.model import EvidenceKind
from research.consolidation import scores
from research.consolidation.conversations import (
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
from research.consolidation.histories import History
from research.consolidation.scores import Facts, percent
from research.consolidation.sweeps import LEAST, NEAR, SweepData, intervals

if TYPE_CHECKING:
    from bench.progress import Steps

SEEDS = (1, 2, 3)
"""Seeds of the generated histories."""
SWEPT_TALKS, STEPPED_TALKS = 3, 1
"""Numbers of LoCoMo conversations for the sweeps and for consolidation at intervals."""
ONCE, PART = "at once", "held in"


def measure(steps: Steps, *, beam: bool) -> Report:
    """Return the quality of beliefs on generated histories, LoCoMo and, with `beam`, BEAM.

    Raises:
        ConfigurationError: The data set is missing.
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
            Table("conversations", list(_corpus_rows(on, {LOCOMO: locomo, BEAM: chats}))),
        ]
        swept = SweepData.of(on, made, locomo[:SWEPT_TALKS])
        tables += [
            Table(
                "sweep: cluster_similarity",
                [swept.row(steps, cluster_similarity=near) for near in NEAR],
            ),
            Table(
                "sweep: least episodes",
                [swept.row(steps, min_belief_episodes=least) for least in LEAST],
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
            "whose evidence states one fact and nothing else; recall, facts stated in enough "
            "episodes that have such a belief; mixed, the other beliefs. Afterwards every fact is "
            "stated once more in new words (repeats) and then contradicted (reversals).",
            f"Held out: beliefs of the first {HELD_IN:.0%} of the sessions that later sessions "
            f"support; random: the same for as many random telling passages, {DRAWS} draws.",
            "Interval: a run after this many sessions, and at the end; Jaccard of the beliefs with "
            "those of one run over everything; absorbed: share of the passages that are evidence "
            "in that run and in this one too.",
        ],
        setting=setting,
    )


def facts(on: Bench, talks: Sequence[Talk]) -> Row:
    """Return the scores of beliefs on known facts, and the effect of one more episode on them."""
    found: list[Facts] = []
    repeats: list[EvidenceKind | None] = []
    reversals: list[EvidenceKind | None] = []
    for talk in on.steps.over(talks, "known facts"):
        assert talk.history is not None  # noqa: S101 - all of these are generated
        handle = on.ingested(ONCE, talk, talk.sessions)
        done = handle.consolidate(policy=talk.policy())
        found.append(facts_in(done.changes, talk, talk.policy()))
        about = _fact_by_belief(done.changes, talk.history)
        for attribute, into in (("repeat", repeats), ("reversal", reversals)):
            texts = {n: getattr(talk.history.facts[n], attribute) for n in about.values()}
            for n, text in texts.items():
                message = {"role": "user", "content": text, "id": f"{attribute} {n}"}
                handle.session(f"{attribute} {n}").add_messages([message])
            more = handle.consolidate(policy=talk.policy())
            into += [_evidence_kind(more.changes, about, n, text) for n, text in texts.items()]
    learnable = sum(len(talk.history.facts) for talk in talks if talk.history)
    return {
        "facts": learnable,
        **scores.facts_row(found),
        "repeats support": percent(repeats.count(EvidenceKind.SUPPORTING), len(repeats)),
        "repeats refute": percent(repeats.count(EvidenceKind.REFUTING), len(repeats)),
        "reversals refute": percent(reversals.count(EvidenceKind.REFUTING), len(reversals)),
        "reversals support": percent(reversals.count(EvidenceKind.SUPPORTING), len(reversals)),
    }


def _fact_by_belief(changes: Sequence[BeliefChange], history: History) -> dict[str, int]:
    """Return the fact of each created belief whose evidence states one fact only."""
    about = {}
    for change in changes:
        of = scores.facts_of(change, history)
        if change.step is BeliefChangeKind.CREATE and len(of) == 1:
            [fact] = of
            if fact is not None:
                about[change.belief_id] = fact
    return about


def _evidence_kind(
    changes: Sequence[BeliefChange], about: Mapping[str, int], fact: int, text: str
) -> EvidenceKind | None:
    """Return the kind of evidence that a text became for a belief of its fact; None if none."""
    for change in changes:
        if about.get(change.belief_id) == fact and text in {q.text for q in change.quotes}:
            if change.step is BeliefChangeKind.CONTRADICT:
                return EvidenceKind.REFUTING
            if change.step is BeliefChangeKind.SUPPORT:
                return EvidenceKind.SUPPORTING
    return None


def _corpus_rows(on: Bench, corpora: Mapping[str, Sequence[Talk]]) -> Iterator[Row]:
    for name, talks in corpora.items():
        if talks:
            yield conversations_row(on, name, talks)


def conversations_row(on: Bench, name: str, talks: Sequence[Talk]) -> Row:
    """Return the results on one corpus, and the share of beliefs that later sessions support."""
    whole: list[ConsolidationReport] = []
    again: list[ConsolidationReport] = []
    part: list[Predicted] = []
    supported = 0
    for talk in on.steps.over(talks, name):
        handle = on.ingested(ONCE, talk, talk.sessions)
        whole.append(handle.consolidate(policy=talk.policy()))
        again.append(handle.consolidate(policy=talk.policy()))
        halves = split(on, talk, PART)
        part.append(predicted(halves, talk.policy()))
        first = halves.held.consolidate(policy=talk.policy())
        rest = on.ingested(PART, talk, talk.sessions[cut(talk) :]).consolidate(policy=talk.policy())
        confirmed = {
            change.belief_id for change in rest.changes if change.step is BeliefChangeKind.SUPPORT
        }
        supported += len(scores.created(first.changes) & confirmed)
    grounded = [ok for report in whole for ok in scores.quoted(report.changes).values()]
    episodes = sum(report.episodes for report in whole)
    return {
        "corpus": name,
        "conversations": len(talks),
        "episodes": episodes,
        "passages": sum(report.passages for report in whole),
        "clusters": sum(report.clusters for report in whole),
        "per 1,000 episodes": round(1_000 * sum(report.clusters for report in whole) / episodes, 1),
        "beliefs": len(grounded),
        "grounded in a quote": percent(sum(grounded), len(grounded)),
        "beliefs held in": sum(one.beliefs for one in part),
        "supported later": percent(supported, sum(one.beliefs for one in part)),
        **shares(part),
        "changed again": sum(len(report.changes) for report in again),
    }
