"""A batch resolved text by text, against a plain pass over all memories."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import NewMemory, Outcome, Status, TenantScope
from graphmem.ports import Role, run_now
from graphmem.rules import drafts, duplicates, identity, scoring
from graphmem.rules.drafts import TextDraft
from graphmem.rules.duplicates import (
    DuplicateResolver,
    DuplicateVerdict,
    ExactMatch,
    NearMatch,
    StoredMatches,
    Vector,
)
from graphmem.testing import HashEmbedder

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WALL = TenantScope(tenant="t", scope="own", scopes=("own", "global"))
NEAR, UPDATE, MU = 0.8, 0.6, 0.1
WINDOW = "The deploy window of the payments service opens every Friday at noon and closes at {}"
TEXTS = [
    *(WINDOW.format(n) + end for n in ("five", "six", "5") for end in ("", ".", "!")),
    WINDOW.format("five").upper(),
    "Alice deploys from Borealis on most days of the week",
    "Alice deploys from Borealis on most days of the week ",
    "Alice does not deploy from Borealis on most days of the week",
    "something else altogether",
]


def vector_of(text: str) -> Vector:
    [vector] = run_now(HashEmbedder().embed([text], Role.DOCUMENT))
    found: Vector = vector
    return found


VECTORS = {text: vector_of(text) for text in TEXTS}


@dataclass
class Known:
    """One memory as the plain pass has it."""

    id: str
    scope: str
    content: str
    status: Status = Status.CURRENT
    tags: set[str] = field(default_factory=set)


def similarity(one: str, other: str) -> float:
    cosine = float(np.dot(VECTORS[one], VECTORS[other]))
    return scoring.calibrate(cosine, MU)


def nearest(memories: list[Known], text: str) -> list[Known]:
    """Return the five that a search would give, best first."""
    current = [m for m in memories if m.status is Status.CURRENT]
    return sorted(current, key=lambda m: (-similarity(m.content, text), m.id))[:5]


def met(stored: list[Known], draft: TextDraft) -> StoredMatches:
    """Return what the store would say of a text before the batch."""
    exact = [
        m
        for memory_id in draft.exact_ids
        for m in stored
        if m.id == memory_id and (m.scope == "own" or m.status is Status.CURRENT)
    ][:1]
    return StoredMatches(
        exact=ExactMatch(exact[0].id, exact[0].scope, exact[0].status, tuple(sorted(exact[0].tags)))
        if exact
        else None,
        near=()
        if exact
        else tuple(
            NearMatch(
                m.id,
                m.scope,
                m.content,
                tuple(sorted(m.tags)),
                similarity(m.content, draft.memory.content),
            )
            for m in nearest(stored, draft.memory.content)
        ),
    )


@dataclass
class Plain:
    """Judges by looking at every memory each time."""

    stored: list[Known]
    made: list[Known] = field(default_factory=list)

    def judge(self, draft: TextDraft) -> tuple[Outcome, str, tuple[str, ...], str | None, bool]:
        """Return outcome, memory, its tags, what it may update, whether it was brought back."""
        text, tags = draft.memory.content, set(draft.memory.tags)
        memory = self.exact(draft)
        if memory is not None:
            back = memory.status is not Status.CURRENT
            memory.status = Status.CURRENT
            return Outcome.EXACT_DUPE, memory.id, united(memory, tags), None, back
        candidates = nearest(self.searched, text) + nearest(self.made, text)
        found = duplicates.find_duplicate(
            text,
            [
                NearMatch(m.id, m.scope, m.content, (), similarity(m.content, text))
                for m in candidates
            ],
            NEAR,
            UPDATE,
        )
        if found and not found.differences:
            memory = next(m for m in candidates if m.id == found.match.id)
            return Outcome.NEAR_DUPE, memory.id, united(memory, tags), None, False
        memory = Known(draft.memory_id, "own", text)
        self.made.append(memory)
        update = found.match.id if found else None
        return Outcome.INSERTED_NEW, memory.id, united(memory, tags), update, False

    def exact(self, draft: TextDraft) -> Known | None:
        for memory_id in draft.exact_ids:
            for memory in (*self.stored, *self.made):
                seen = memory.scope == "own" or memory.status is Status.CURRENT
                if memory.id == memory_id and seen:
                    return memory
        return None

    def __post_init__(self) -> None:
        # A search sees what was current when the batch began.
        self.searched = [m for m in self.stored if m.status is Status.CURRENT]


def united(memory: Known, tags: set[str]) -> tuple[str, ...]:
    if memory.scope == "own":
        memory.tags |= tags
    return tuple(sorted(memory.tags))


stores = st.lists(
    st.tuples(
        st.sampled_from(TEXTS),
        st.sampled_from(["own", "global"]),
        st.sampled_from(Status),
        st.sets(st.sampled_from("xy")),
    ),
    max_size=6,
    unique_by=lambda row: (identity.content_hash(row[0]), row[1]),
)
batches = st.lists(st.tuples(st.sampled_from(TEXTS), st.sets(st.sampled_from("yz"))), max_size=8)


def kept(rows: list[tuple[str, str, Status, set[str]]]) -> list[Known]:
    return [
        Known(identity.memory_id(scope, text), scope, text, status, set(tags))
        for text, scope, status, tags in rows
    ]


@given(store=stores, batch=batches)
def test_a_batch_is_judged_as_by_a_plain_pass(
    store: list[tuple[str, str, Status, set[str]]], batch: list[tuple[str, set[str]]]
) -> None:
    stored = kept(store)
    judge = DuplicateResolver("own", NEAR, UPDATE, MU)
    plain = Plain(kept(store))
    for text, tags in batch:
        draft = drafts.draft(NewMemory(content=text, tags=tuple(sorted(tags))), WALL, NOW, ())
        verdict = judge.decide(draft, met(stored, draft), VECTORS[text])
        assert verdict is not None
        found = (
            verdict.outcome,
            verdict.memory_id,
            verdict.tags,
            verdict.update_of,
            verdict.restores is not None,
        )
        assert found == plain.judge(draft)
        is_new = verdict.outcome is Outcome.INSERTED_NEW
        assert verdict.matched_id == (None if is_new else verdict.memory_id)


@given(store=stores, batch=batches)
def test_a_text_whose_embedding_lacks_is_named_unless_it_is_there(
    store: list[tuple[str, str, Status, set[str]]], batch: list[tuple[str, set[str]]]
) -> None:
    stored = kept(store)
    judge = DuplicateResolver("own", NEAR, UPDATE, MU)
    for text, _ in batch:
        draft = drafts.draft(NewMemory(content=text), WALL, NOW, ())
        found = met(stored, draft)
        verdict = judge.decide(draft, found, None)
        assert (verdict is None) == (found.exact is None)


def decided(judge: DuplicateResolver, text: str, found: StoredMatches) -> DuplicateVerdict:
    draft = drafts.draft(NewMemory(content=text), WALL, NOW, ())
    verdict = judge.decide(draft, found, VECTORS[text])
    assert verdict is not None
    return verdict


def test_a_hidden_memory_is_brought_back_once() -> None:
    judge = DuplicateResolver("own", NEAR, UPDATE, MU)
    hidden = StoredMatches(exact=ExactMatch("m", "own", Status.DEPRECATED, ()))
    restored = [decided(judge, TEXTS[0], hidden).restores for _ in range(3)]
    assert restored == [hidden.exact, None, None]


def test_scores_are_those_of_what_was_met() -> None:
    judge = DuplicateResolver("own", NEAR, UPDATE, MU)
    new = decided(judge, TEXTS[0], StoredMatches())
    assert (new.outcome, new.score, new.update_of) == (Outcome.INSERTED_NEW, None, None)
    near = decided(judge, TEXTS[1], StoredMatches())
    assert near.score == pytest.approx(similarity(TEXTS[0], TEXTS[1]))
    update = decided(judge, TEXTS[3], StoredMatches())
    assert update.update_of == new.memory_id
    assert update.score == pytest.approx(similarity(TEXTS[0], TEXTS[3]))
    assert decided(judge, TEXTS[0], StoredMatches()).score == 1.0
