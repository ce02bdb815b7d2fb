"""Made-up memories: the same each time, each text once, with neighbours and near copies."""

from __future__ import annotations

import numpy as np

from bench import synthetic
from bench.synthetic import BLOCK, Memories
from graphmem.ports import Role, run_now


def test_a_corpus_depends_on_its_seed_alone() -> None:
    one, again, other = (synthetic.memories(300, seed=seed) for seed in (1, 1, 2))
    assert one.texts == again.texts
    assert np.array_equal(one.vectors, again.vectors)
    assert one.texts != other.texts


def test_texts_stand_once_and_vectors_are_units() -> None:
    corpus = synthetic.memories(BLOCK + 2_000, seed=1)
    assert len(set(corpus.texts)) == len(corpus.vectors) == BLOCK + 2_000
    assert corpus.vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(corpus.vectors, axis=1), 1, atol=1e-5)


def test_blocks_differ_but_lie_around_the_same_centres() -> None:
    memories = Memories(BLOCK + 1_000, seed=1)
    assert memories.blocks == 2
    first, last = memories.block(0), memories.block(1)
    assert (len(first.texts), len(last.texts)) == (BLOCK, 1_000)
    nearest = (last.vectors @ first.vectors.T).max(axis=1)
    assert 0.55 < np.median(nearest) < 0.95


def test_a_block_is_the_same_however_many_follow() -> None:
    one, other = (Memories(count, seed=1).block(0) for count in (BLOCK, 3 * BLOCK))
    assert one.texts == other.texts
    assert np.array_equal(one.vectors, other.vectors)


def test_memories_are_picked_by_number_in_the_order_wanted() -> None:
    memories = Memories(BLOCK + 50, seed=1)
    whole = synthetic.memories(BLOCK + 50, seed=1)
    numbers = [BLOCK + 7, 3, BLOCK - 1, 3]
    picked = memories.picked(numbers)
    assert picked.texts == [whole.texts[number] for number in numbers]
    assert np.array_equal(picked.vectors, whole.vectors[numbers])


def test_a_few_texts_lie_as_near_as_a_duplicate() -> None:
    corpus = synthetic.memories(1_000, seed=1)
    cosines = corpus.vectors @ corpus.vectors.T - 2 * np.eye(1_000, dtype=np.float32)
    near = cosines.max(axis=1) > 0.92
    assert 5 <= near.sum() <= 100
    stems = [text.rsplit(" ", 1)[0] for text in corpus.texts]
    assert all(stems[i] == stems[cosines[i].argmax()] for i in np.flatnonzero(near))


def test_a_question_lies_nearest_to_what_it_is_about() -> None:
    corpus = synthetic.memories(500, seed=1)
    targets = range(0, 500, 10)
    about = synthetic.Corpus([corpus.texts[i] for i in targets], corpus.vectors[list(targets)])
    asked = synthetic.questions(about, seed=3)
    nearest = (asked.vectors @ corpus.vectors.T).argmax(axis=1)
    assert (nearest == list(targets)).mean() > 0.9
    shared = [
        len({*question.split()} & {*text.split()})
        for question, text in zip(asked.texts, about.texts, strict=True)
    ]
    assert sum(n >= 3 for n in shared) > 40


def test_vectors_are_looked_up_and_unknown_texts_get_one_of_their_own() -> None:
    corpus = synthetic.memories(10, seed=1)
    embedder = synthetic.LookupEmbedder(corpus)
    rows = run_now(embedder.embed([corpus.texts[3], "else", "else"], Role.QUERY))
    assert np.array_equal(rows[0], corpus.vectors[3])
    assert np.array_equal(rows[1], rows[2])
    assert np.isclose(np.linalg.norm(rows[1]), 1)
