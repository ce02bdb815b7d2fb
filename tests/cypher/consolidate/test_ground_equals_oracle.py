"""What lies near what, by index search, is what the vectors say one against another."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from graphmem import ConsolidationPolicy, Handle, Turn
from graphmem.consolidation import sources
from graphmem.consolidation.sources import Neighborhood, NewBelief, ScopeSnapshot
from graphmem.english import passages
from graphmem.model.terms import Embedding
from graphmem.ports import Role, run_now
from graphmem.rules import claims, read_options, scoring
from graphmem.testing import HashEmbedder

NEAR = 0.6
WORDS = ["lake", "cold", "swim", "early", "morning", "horse", "paint", "sister"]
NEARLY = 1e-5
"""Scores are reckoned in 32-bit floats."""


def said(seed: int) -> list[tuple[str | None, str]]:
    """Sentences of a few words, so that some share most of them, by two speakers and none."""
    chance = random.Random(seed)
    return [
        (chance.choice([None, "Ada", "Bob"]), " ".join(chance.sample(WORDS, 6))) for _ in range(60)
    ]


def similarities(memory: Handle, texts: list[str]) -> np.ndarray:
    matrix = run_now(HashEmbedder().embed(texts, Role.DOCUMENT)).astype("float64")
    mu = memory._state.context.model.mu_document
    return scoring.calibrate(matrix @ matrix.T, mu)  # type: ignore[return-value]


def ground(memory: Handle, since: datetime = read_options.BEGINNING) -> Neighborhood:
    policy = ConsolidationPolicy(
        cluster_similarity=NEAR, clause_similarity=NEAR, match_similarity=NEAR, neighbours=1_000
    )
    seen = ScopeSnapshot(known=datetime.now(UTC) + timedelta(minutes=1), since=since)
    return run_now(sources.ground(memory._state.context, seen, policy, lambda _kind, _count: None))


@pytest.mark.parametrize("seed", range(3))
def test_neighbours_are_those_that_the_vectors_make(plain: Handle, seed: int) -> None:
    talk = said(seed)
    for n, (name, text) in enumerate(talk):
        message = {"role": "user", "content": text} | ({"name": name} if name else {})
        plain.session(f"s{n % 7}").add_messages([message])
    found = ground(plain)
    spoken = [one.spoken for one in found.passages]
    assert sorted(spoken) == sorted(f"{n}: {t}" if n else t for n, t in talk)
    exact = similarities(plain, spoken)
    edges = 0
    for i, one in enumerate(found.passages):
        for j, other in enumerate(found.passages):
            if i == j or abs(exact[i, j] - NEAR) < NEARLY:
                continue
            near = exact[i, j] >= NEAR and one.name == other.name
            assert (j in found.near[i]) == near, (one.spoken, other.spoken)
            if near:
                edges += 1
                assert found.near[i][j] == pytest.approx(exact[i, j], abs=NEARLY)
    assert edges > 20


def test_beliefs_near_are_those_that_the_vectors_make(plain: Handle) -> None:
    talk = [text for _, text in said(7)]
    statements = [text for _, text in said(8)][:20]
    for statement in statements:
        plain.believe(statement)
    gone = plain.believe("early sister horse lake cold paint")
    plain.beliefs.revise(gone, "something else altogether is the case")
    for n, text in enumerate(talk):
        plain.session(f"s{n}").add_messages([{"role": "user", "content": text}])
    found = ground(plain)
    told = [one.spoken for one in found.passages]
    exact = similarities(plain, [*told, *statements])[: len(told), len(told) :]
    some = 0
    for i in range(len(told)):
        wanted = sorted(
            (j for j in range(len(statements)) if exact[i, j] >= NEAR), key=lambda j: -exact[i, j]
        )[: sources.BELIEFS]
        same = found.same.get(i, ())
        assert [round(one.similarity, 4) for one in same] == [
            round(float(exact[i, j]), 4) for j in wanted
        ]
        assert {one.claim.statement for one in same} <= set(statements)
        some += len(wanted)
    assert some > 20


def test_what_lies_around_a_new_belief_is_what_the_vectors_make(plain: Handle) -> None:
    context = plain._state.context
    for n, (name, text) in enumerate(said(9)):
        message = {"role": "user", "content": text} | ({"name": name} if name else {})
        plain.session(f"s{n % 7}").add_messages([message])
    plain.session("s0").add_messages([{"role": "assistant", "content": "cold lake swim early"}])
    plain.session("late").add_messages([{"role": "user", "content": "cold lake swim early sister"}])
    [late] = _turns(plain, "late")
    seen = ScopeSnapshot(
        known=late.recorded_at - timedelta(microseconds=1), since=read_options.BEGINNING
    )
    run_now(sources._indexed(context, late.recorded_at))
    everything = [turn for n in range(7) for turn in _turns(plain, f"s{n}")]
    told = [one for one in everything if one.role == "user"]
    used = {one.id for one in told[::9]}
    plain.believe("early sister horse lake cold paint")
    [there] = plain.beliefs.list().beliefs
    statements = ["cold lake swim early morning", "horse paint sister lake cold", there.statement]
    made = {
        claim.id: NewBelief(
            claim, Embedding(run_now(HashEmbedder().embed([claim.statement], Role.DOCUMENT))[0])
        )
        for claim in (claims.statement_claim(context.scope, one) for one in statements)
    }
    policy = ConsolidationPolicy(
        cluster_similarity=NEAR, match_similarity=NEAR, refute_similarity=NEAR
    )
    found = run_now(sources.around(context, seen, made, used, policy))
    spoken = [passages.prefix_speaker(one.name, one.text) for one in told]
    exact = similarities(plain, [*spoken, *statements])[: len(told), len(told) :]
    wanted = {
        (told[i].id, statements[j]): round(float(exact[i, j]), 4)
        for i in range(len(told))
        for j in range(3)
        if exact[i, j] >= NEAR and told[i].id not in used
    }
    assert {
        (found.passages[place].id, one.claim.statement): round(one.similarity, 4)
        for place, same in found.same.items()
        for one in same
    } == wanted
    assert {statement for _, statement in wanted} == set(statements)
    # A belief that is older than the run has been compared with every passage.
    older = replace(seen, known=datetime.now(UTC) + timedelta(minutes=1))
    again = run_now(sources.around(context, older, made, used, policy))
    assert {one.claim.statement for same in again.same.values() for one in same} == {
        *statements[:2]
    }


def test_an_older_passage_brings_its_own_neighbours(plain: Handle) -> None:
    centre = "cold lake swim early morning horse"
    older = [f"{centre} paint", f"{centre} blue", centre]
    for n, text in enumerate(older):
        plain.session(f"old{n}").add_messages([{"role": "user", "content": text}])
    since = max(turn.recorded_at for n in range(3) for turn in _turns(plain, f"old{n}"))
    plain.session("new").add_messages([{"role": "user", "content": f"{centre} sister"}])
    found = ground(plain, since=since)
    assert found.fresh == 1
    place = {one.text: n for n, one in enumerate(found.passages)}
    assert set(place) == {*older, f"{centre} sister"}
    assert found.near[place[centre]].keys() == set(place.values()) - {place[centre]}


def _turns(memory: Handle, session: str) -> Sequence[Turn]:
    with memory.session(session) as opened:
        return memory.episodes.turns(opened.episode_id).turns
