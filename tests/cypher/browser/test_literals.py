"""Values written into a statement come back as they were, and end nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphmem.rules.urls import literal
from tests.plugins.examples import few
from tests.plugins.graph import Look

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.text(
    "\\u0026\"'`$;/*{}&#?\n\t", max_size=20
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | words,
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


@few
@given(value=values)
@example(value='" RETURN 1 //')
@example(value="\\")
@example(value="\\u0022")
@example(value="\\\\u0022")
@example(value="a & b # c ? d")
@example(value="\U0001f600 \u2028")
def test_a_literal_is_read_back(look: Look, value: Any) -> None:
    text = literal(value)
    assert not set("&#?") & set(text)
    assert look.rows(f"CYPHER 25 RETURN {text} AS x") == [{"x": value}]


@pytest.mark.parametrize("value", [0.25, -1e-9, 1e22])
def test_a_number_too(look: Look, value: float) -> None:
    assert look.rows(f"RETURN {literal(value)} AS x") == [{"x": value}]
