"""The hash embedder: deterministic, and close for texts that share words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.ports import Role, run_now
from graphmem.testing import HashEmbedder

texts = st.text(min_size=1).filter(
    lambda t: bool(t.replace("\0", " ").strip()) and not any("\ud800" <= c <= "\udfff" for c in t)
)


@given(text=texts, dimension=st.integers(1, 64))
def test_every_text_has_a_unit_vector_whatever_the_role(text: str, dimension: int) -> None:
    embedder = HashEmbedder(dimension)
    document = run_now(embedder.embed([text], Role.DOCUMENT))
    assert document.shape == (1, dimension)
    assert np.linalg.norm(document) == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_array_equal(document, run_now(embedder.embed([text], Role.QUERY)))


def test_shared_words_bring_texts_together() -> None:
    first, again, other = run_now(
        HashEmbedder().embed(
            [
                "Alice moved to Porto in March",
                "In March, Alice moved to Porto",
                "The pump needs a new gasket",
            ],
            Role.DOCUMENT,
        )
    )
    assert first @ again > 0.8
    assert abs(first @ other) < 0.2


def test_vectors_are_the_same_on_every_machine() -> None:
    [row] = run_now(HashEmbedder(4).embed(["graph memory"], Role.DOCUMENT))
    np.testing.assert_allclose(row, np.array([2, 0, 3, -1]) / 14**0.5, atol=1e-6)


def test_no_texts_give_no_rows() -> None:
    assert run_now(HashEmbedder(8).embed([], Role.DOCUMENT)).shape == (0, 8)
