"""Cleaning, batching and order, on every face and over every model that needs no service."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import InvalidInputError, ModelReplyError
from graphmem.io_modes import AWAITED, BLOCKING, IOMode
from graphmem.models import open_embedder
from graphmem.models.embedding import CHARS_READ, EmbeddingGateway, batches
from graphmem.ports import Embedder, Role, run_now
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder

if TYPE_CHECKING:
    from graphmem.ports import Matrix


class LengthEngine:
    """Answers a text's length and last character; notes what it was asked."""

    name = identity = "length"

    def __init__(self, face: IOMode = BLOCKING, dimension: int | None = 2) -> None:
        self.dimension = dimension
        self.face = face
        self.asked: list[list[str]] = []

    async def vectors(self, texts: Sequence[str], role: Role) -> Matrix:
        def work() -> Matrix:
            self.asked.append(list(texts))
            rows = [[len(t), ord(t[-1]) + (role is Role.QUERY)] for t in texts]
            return np.array(rows, dtype=np.float32)

        return await self.face.run(work)


def gateway(engine: LengthEngine, batch: int = 64) -> EmbeddingGateway:
    return EmbeddingGateway(engine, engine.face, batch=batch, cache=None)


words = st.text(min_size=1, max_size=20).filter(
    lambda t: bool(t.strip()) and "\0" not in t and not any("\ud800" <= c <= "\udfff" for c in t)
)


@given(texts=st.lists(words, max_size=30), batch=st.integers(1, 7))
def test_order_and_batch_size_do_not_matter(texts: list[str], batch: int) -> None:
    together = run_now(gateway(LengthEngine(), batch).embed(texts, Role.DOCUMENT))
    assert together.shape == (len(texts), 2)
    for text, row in zip(texts, together, strict=True):
        [alone] = run_now(gateway(LengthEngine()).embed([text], Role.DOCUMENT))
        np.testing.assert_array_equal(row, alone)


@given(texts=st.lists(words, max_size=30), size=st.integers(1, 7))
def test_batches_hold_every_text_once_and_grow_in_length(texts: list[str], size: int) -> None:
    made = batches(texts, size)
    flat = [text for batch in made for text in batch]
    assert sorted(flat) == sorted(texts)
    assert [len(text) for text in flat] == sorted(len(text) for text in texts)
    assert all(1 <= len(batch) <= size for batch in made)


def test_equal_texts_are_asked_once() -> None:
    engine = LengthEngine()
    rows = run_now(gateway(engine).embed(["same", "other", "same"], Role.DOCUMENT))
    assert engine.asked == [["same", "other"]]
    np.testing.assert_array_equal(rows[0], rows[2])


def test_no_texts_give_no_rows_and_ask_nothing_when_the_dimension_is_known() -> None:
    engine = LengthEngine()
    rows = run_now(gateway(engine).embed([], Role.DOCUMENT))
    assert rows.shape == (0, 2)
    assert rows.dtype == np.float32
    assert engine.asked == []


def test_a_nul_is_a_space_and_margins_do_not_count() -> None:
    engine = LengthEngine()
    run_now(gateway(engine).embed(["a\0b", " a b\n", "\0a b\0"], Role.DOCUMENT))
    assert engine.asked == [["a b"]]


def test_a_very_long_text_is_embedded_by_its_beginning() -> None:
    engine = LengthEngine()
    run_now(gateway(engine).embed(["x" * 1_000_000], Role.DOCUMENT))
    assert engine.asked == [["x" * CHARS_READ]]


EMBEDDERS: dict[str, Callable[[], Embedder]] = {
    "gateway": lambda: gateway(LengthEngine()),
    "hash": HashEmbedder,
}


@pytest.mark.parametrize("opened", EMBEDDERS.values(), ids=EMBEDDERS)
@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["fine", ""], "Text 1 must not be blank"),
        (["\0\n\t "], "Text 0 must not be blank"),
        (["fine", "fine", "half \ud83d"], "Text 2 has invalid Unicode at position 5"),
        (["fine", None], "Text 1 must be a string, not NoneType"),
        (["fine", b"bytes"], "Text 1 must be a string, not bytes"),
        ("not a list", "list of strings"),
    ],
)
def test_texts_that_cannot_be_embedded_are_named(
    opened: Callable[[], Embedder], texts: Sequence[str], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        run_now(opened().embed(texts, Role.DOCUMENT))


def test_an_engine_of_another_dimension_is_refused() -> None:
    with pytest.raises(ModelReplyError, match="2 numbers per text where 3 were expected"):
        run_now(gateway(LengthEngine(dimension=3)).embed(["text"], Role.DOCUMENT))


def test_the_blocking_face_never_suspends() -> None:
    assert len(run_now(gateway(LengthEngine(BLOCKING)).embed(["text"], Role.QUERY))) == 1
    run_now(BLOCKING.sleep(0))


def test_the_awaited_face_lets_the_loop_go_on() -> None:
    others_ran = threading.Event()

    class Patient(LengthEngine):
        async def vectors(self, texts: Sequence[str], role: Role) -> Matrix:
            await self.face.run(lambda: others_ran.wait(300) or pytest.fail("the loop did not run"))
            return await super().vectors(texts, role)

    async def both() -> Matrix:
        async def other() -> None:
            await AWAITED.sleep(0)
            others_ran.set()

        rows, _ = await asyncio.gather(
            gateway(Patient(AWAITED)).embed(["text"], Role.QUERY), other()
        )
        return rows

    np.testing.assert_array_equal(
        asyncio.run(both()), run_now(gateway(LengthEngine()).embed(["text"], Role.QUERY))
    )


@pytest.mark.parametrize("awaited", [False, True])
def test_hash_is_a_setting(awaited: bool) -> None:  # noqa: FBT001
    embedder = open_embedder(Settings(embedder="hash", embedder_dimension=32), awaited=awaited)
    assert embedder.name == "hash-32"
    assert run_now(embedder.embed(["text"], Role.DOCUMENT)).shape == (1, 32)
