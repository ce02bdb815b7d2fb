"""A caller's own embedder that fails: a clear error, and nothing half written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from graphmem import GraphMem, Handle, Outcome, Settings
from graphmem.errors import ModelReplyError
from graphmem.model.terms import Encoding
from graphmem.ports import Role
from graphmem.testing import HashEmbedder
from tests.plugins.graph import Look
from tests.plugins.texts import unlike
from tests.plugins.tokens import TokenHashEmbedder

if TYPE_CHECKING:
    from graphmem.ports import Matrix

Fault = Callable[[Any], Any]


class Faulty(HashEmbedder):
    """An embedder whose vectors a fault changes."""

    def __init__(self) -> None:
        super().__init__()
        self.fault: Fault = lambda rows: rows

    async def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        changed: Matrix = self.fault(await super().embed(texts, role))
        return changed


def last(value: float) -> Fault:
    """Return a fault that sets the first number of the last row."""

    def fault(rows: Matrix) -> Matrix:
        rows[-1, 0] = value
        return rows

    return fault


FAULTS: dict[str, tuple[Fault, str]] = {
    "NaN": (last(np.nan), "NaN or infinity"),
    "infinite": (last(np.inf), "NaN or infinity"),
    "zero": (lambda rows: rows * 0, "vector of zeros"),
    "too few": (lambda rows: rows[:-1], "shape"),
    "too many": (lambda rows: np.vstack([rows, rows[:1]]), "shape"),
    "short": (lambda rows: rows[:, :10], "10 numbers per text where 256"),
    "long": (lambda rows: np.hstack([rows, rows]), "512 numbers per text where 256"),
    "ragged": (lambda rows: [[1.0] * (n + 3) for n in range(len(rows))], "numbers"),
    "words": (lambda rows: [["a"] * 256 for _ in rows], "something other than"),
    "one row": (lambda rows: rows[0], "shape"),
    "none": (lambda _: None, "shape"),
}
CALLS: tuple[Callable[[Handle], object], ...] = (
    lambda m: m.remember(unlike(1)),
    lambda m: m.remember_many([unlike(1), unlike(2)]),
    lambda m: m.observe("alice", "likes", "tea"),
    lambda m: m.believe(unlike(3)),
    lambda m: m.session("s").add_messages([{"role": "user", "content": unlike(4)}]),
    lambda m: m.episodes.add(episode_id="e", content=unlike(5)),
    lambda m: m.recall(unlike(6)),
)


@pytest.fixture(scope="module")
def embedder() -> Faulty:
    return Faulty()


@pytest.fixture(scope="module")
def client(migrated: Settings, embedder: Faulty) -> Iterator[GraphMem]:
    with GraphMem.open(settings=migrated, embedder=embedder) as client:
        yield client


@pytest.fixture
def memory(client: GraphMem, embedder: Faulty, tenant: str) -> Iterator[Handle]:
    yield client.tenant(tenant)
    embedder.fault = lambda rows: rows


@pytest.mark.parametrize(("fault", "message"), FAULTS.values(), ids=FAULTS)
def test_wrong_vectors_are_refused_and_nothing_is_written(
    memory: Handle, embedder: Faulty, look: Look, tenant: str, fault: Fault, message: str
) -> None:
    embedder.fault = fault
    for call in CALLS:
        with pytest.raises(ModelReplyError, match=message):
            call(memory)
    # The episode of a session is opened before its turns are embedded.
    assert look.count(tenant) == {"Episode": 1}


def test_vectors_of_any_length_are_stored_with_length_one(
    memory: Handle, embedder: Faulty, look: Look, tenant: str
) -> None:
    embedder.fault = lambda rows: (rows * 1e5).tolist()
    memory.remember(unlike(1))
    [row] = look.rows("MATCH (m:Memory {tenant: $tenant}) RETURN m.embedding AS e", tenant=tenant)
    assert np.linalg.norm(row["e"]) == pytest.approx(1, abs=1e-6)
    [found] = memory.recall(unlike(1)).bites
    assert found.similarity == pytest.approx(1, abs=1e-3)


def test_other_vectors_for_the_same_text_make_no_second_memory(
    memory: Handle, embedder: Faulty
) -> None:
    first = memory.remember(unlike(1))
    embedder.fault = lambda rows: -rows
    again = memory.remember(unlike(1))
    assert (again.outcome, again.memory_id) == (Outcome.EXACT_DUPE, first.memory_id)


def test_its_own_exception_is_the_callers_and_nothing_is_written(
    memory: Handle, embedder: Faulty, look: Look, tenant: str
) -> None:
    def broken(_: Any) -> Any:
        raise ZeroDivisionError

    embedder.fault = broken
    for call in CALLS:
        with pytest.raises(ZeroDivisionError):
            call(memory)
    assert look.count(tenant) == {"Episode": 1}


def test_token_states_of_fewer_texts_are_refused(migrated: Settings, tenant: str) -> None:
    class Short(TokenHashEmbedder):
        async def encode(self, texts: Sequence[str], role: Role) -> Encoding:
            made = await super().encode(texts, role)
            return Encoding(made.vectors, made.tokens[:-1])

    with (
        GraphMem.open(settings=migrated, embedder=Short()) as client,
        pytest.raises(ModelReplyError, match="token states of 0 texts for 1"),
    ):
        client.tenant(tenant).remember(unlike(1))
