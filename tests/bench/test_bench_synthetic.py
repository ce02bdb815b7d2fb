"""Made-up memories: the same each time, each text once, with neighbours and near copies."""

from __future__ import annotations

import numpy as np

from bench import synthetic
from graphmem.ports import Role, run_now


def test_a_corpus_depends_on_its_seed_alone() -> None:
    one, again, other = (synthetic.memories(300, seed=seed) for seed in (1, 1, 2))
    assert one.texts == again.texts
    assert np.array_equal(one.vectors, again.vectors)
    assert one.texts != other.texts


def test_texts_stand_once_and_vectors_are_units() -> None:
    corpus = synthetic.memories(2_000, seed=1)
    assert len(set(corpus.texts)) == 2_000
    assert np.allclose(np.linalg.norm(corpus.vectors, axis=1), 1, atol=1e-5)


def test_a_few_texts_lie_as_near_as_a_duplicate() -> None:
    vectors = synthetic.memories(1_000, seed=1).vectors
    cosines = vectors @ vectors.T - 2 * np.eye(1_000, dtype=np.float32)
    assert 5 <= (cosines.max(axis=1) > 0.92).sum() <= 100


def test_a_question_lies_nearest_to_what_it_is_about() -> None:
    corpus = synthetic.memories(500, seed=1)
    asked = synthetic.questions(corpus, 50, seed=3)
    nearest = (asked.vectors @ corpus.vectors.T).argmax(axis=1)
    shared = [
        len({*question.split()} & {*corpus.texts[i].split()})
        for question, i in zip(asked.texts, nearest, strict=True)
    ]
    assert sum(n >= 3 for n in shared) > 40


def test_vectors_are_looked_up_and_unknown_texts_get_one_of_their_own() -> None:
    corpus = synthetic.memories(10, seed=1)
    embedder = synthetic.LookupEmbedder(corpus)
    rows = run_now(embedder.embed([corpus.texts[3], "else", "else"], Role.QUERY))
    assert np.array_equal(rows[0], corpus.vectors[3])
    assert np.array_equal(rows[1], rows[2])
    assert np.isclose(np.linalg.norm(rows[1]), 1)
