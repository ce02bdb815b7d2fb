"""Random batches, compared with LangGraph's own store in memory."""

from __future__ import annotations

import json
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from langgraph.store.base import (
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchItem,
    SearchOp,
)

from graphmem import Handle
from graphmem.items import operations
from tests.langgraph.conftest import FIELDS, Reference, Stores
from tests.plugins.clients import on_tenant
from tests.plugins.examples import examples
from tests.plugins.graph import fresh_tenant

EXAMPLES = examples(8, 100, 500)
ROUNDING = 1e-5
"""Neo4j stores and compares vectors as 32-bit floats."""

NAMESPACES = [
    ("a",),
    ("a", "b"),
    ("a", "b", "Ä"),
    ("a-",),
    ("ab", "b"),
    ("*", "b"),
    ("langgraph", "a b", "\U0001f600"),
]
"""Few, so that batches use the same ones again."""
TEXTS = ["green tea", "black tea with milk", "a bicycle", "the night train to Porto", "tea"]

labels = st.sampled_from(sorted({label for namespace in NAMESPACES for label in namespace}))
namespaces = st.sampled_from(NAMESPACES)
prefixes = st.sampled_from([(), ("a",), ("a", "b"), ("ab",), ("*",), ("langgraph", "a b"), ("c",)])
keys = st.sampled_from(["k", "K", "other/key.with points"])
texts = st.sampled_from(TEXTS)
numbers = st.sampled_from([0, 1, 1.0, True, 2.5, -3, 10**20, "7"])
scalars = st.sampled_from([None, True, False, 0, 1, 1.0, 2**53 + 1, 0.1, "", "x", "1", "null"])
nested = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(["p", "q"]), inner, max_size=2)
    ),
    max_leaves=4,
)
values = st.fixed_dictionaries(
    {"n": numbers},
    optional={
        "text": texts,
        "more": st.lists(texts, max_size=2),
        "tag": scalars,
        "deep": nested,
        "": scalars,
    },
)
compared = st.one_of(
    st.sampled_from(["$gt", "$gte", "$lt", "$lte"]).flatmap(
        lambda name: st.fixed_dictionaries({name: numbers})
    ),
    st.fixed_dictionaries({"$gte": numbers, "$ne": numbers}),
    numbers,
)
same = st.one_of(
    nested, st.fixed_dictionaries({"$eq": nested}), st.fixed_dictionaries({"$ne": nested})
)
filters = st.one_of(
    st.none(),
    st.fixed_dictionaries({}, optional={"n": compared, "tag": same, "deep": same, "": same}),
)
# Hypothesis would generate omitted fields from their types.
read = st.just(True)
gets = st.builds(GetOp, namespaces, keys, read)
puts = st.builds(
    PutOp,
    namespaces,
    keys,
    st.one_of(values, values, st.none()),
    st.sampled_from([None, None, False, ["text"], ["more[-1]", "n"]]),
    st.none(),
)
searches = st.builds(
    SearchOp,
    prefixes,
    filters,
    st.integers(0, 5),
    st.integers(0, 3),
    st.one_of(st.none(), st.just(""), texts),
    read,
)
conditions = st.builds(
    MatchCondition, st.sampled_from(["prefix", "suffix"]), st.lists(labels, max_size=3).map(tuple)
)
lists = st.builds(
    ListNamespacesOp,
    st.one_of(st.none(), st.lists(conditions, max_size=2).map(tuple)),
    st.one_of(st.none(), st.integers(0, 3)),
    st.integers(0, 6),
    st.integers(0, 2),
)
batches = st.lists(st.one_of(puts, puts, gets, searches, searches, lists), min_size=1, max_size=8)


class Batches(RuleBasedStateMachine):
    """Both stores get the same batches."""

    def __init__(self, stores: Stores, memory: Handle) -> None:
        super().__init__()
        self.ours = stores(on_tenant(memory, fresh_tenant()), fields=FIELDS)
        self.theirs = Reference()

    @rule(ops=batches)
    def batch(self, ops: list[Op]) -> None:
        rankings = {n: self.ranking(op) for n, op in enumerate(ops)}
        theirs, ours = self.theirs.batch(ops), self.ours.batch(ops)
        assert len(theirs) == len(ours)
        for n, (wanted, found) in enumerate(zip(theirs, ours, strict=True)):
            same_answer(wanted, found, rankings[n])

    @rule()
    def everything(self) -> None:
        ops: list[Op] = [SearchOp((), limit=100), ListNamespacesOp()]
        for wanted, found in zip(self.theirs.batch(ops), self.ours.batch(ops), strict=True):
            same_answer(wanted, found, {})

    def ranking(self, op: Op) -> dict[Any, float | None]:
        """Return the score of every item that a search with a query covers."""
        if not isinstance(op, SearchOp) or not op.query:
            return {}
        [found] = self.theirs.batch([op._replace(limit=1_000, offset=0)])
        return {(one.namespace, one.key): one.score for one in found}


def same_answer(wanted: Any, found: Any, ranking: dict[Any, float | None]) -> None:
    """Compare two answers; items of equal score may have another order."""
    if not isinstance(wanted, list):
        assert shown(wanted) == shown(found)
    elif ranking:
        assert [one.score is None for one in wanted] == [one.score is None for one in found]
        scored = [one for one in found if one.score is not None]
        assert [one.score for one in scored] == pytest.approx(
            [one.score for one in wanted if one.score is not None], abs=ROUNDING
        )
        places = [(one.namespace, one.key) for one in scored]
        assert len(set(places)) == len(places)
        for one in scored:
            assert one.score == pytest.approx(ranking[one.namespace, one.key], abs=ROUNDING)
        rest = [[shown(one) for one in answer if one.score is None] for answer in (wanted, found)]
        assert rest[0] == rest[1]
    else:
        assert [shown(one) for one in wanted] == [shown(one) for one in found]


def shown(answer: Any) -> Any:
    """Return an answer without its timestamps; 1, 1.0 and True are distinct."""
    if isinstance(answer, Item):
        score = answer.score if isinstance(answer, SearchItem) else ...
        value = json.dumps(answer.value, sort_keys=True)
        return type(answer), answer.namespace, answer.key, value, score
    return answer


@pytest.mark.parametrize("exact", [operations.EXACT, -1], ids=["compared", "by index"])
def test_random_batches_equal_those_of_the_store_in_memory(
    stores: Stores, memory: Handle, monkeypatch: pytest.MonkeyPatch, exact: int
) -> None:
    monkeypatch.setattr(operations, "EXACT", exact)

    class Here(Batches):
        def __init__(self) -> None:
            super().__init__(stores, memory)

    settings = hypothesis.settings(max_examples=EXAMPLES, stateful_step_count=15, deadline=None)
    run_state_machine_as_test(Here, settings=settings)
