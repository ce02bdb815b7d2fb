"""Short ids: as short as is unique, and read back only in their own form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.rules import short_ids

DIGITS = st.text("0123456789abcdef", min_size=32, max_size=32)
CLOSE = st.text("ab", min_size=32, max_size=32)
"""Ids of two digits share long prefixes."""
IDS = st.lists(DIGITS | CLOSE, min_size=1, max_size=40, unique=True)


def neighbours(ids: list[str]) -> list[short_ids.Neighbours]:
    order: list[str | None] = [None, *sorted(ids), None]
    return [
        short_ids.Neighbours(str(one), before, after)
        for before, one, after in zip(order, order[1:], order[2:], strict=False)
    ]


@given(kind=st.sampled_from(["m", "b", "t", "ep"]), digits=IDS)
def test_a_short_id_is_the_shortest_prefix_that_no_other_id_has(
    kind: str, digits: list[str]
) -> None:
    ids = [f"{kind}_{one}" for one in digits]
    short = short_ids.shorten(neighbours(ids))
    assert set(short) == set(ids)
    least = len(kind) + 1 + short_ids.MIN_DIGITS
    for item_id, prefix in short.items():
        assert [one for one in ids if one.startswith(prefix)] == [item_id]
        assert len(prefix) >= least
        shorter = prefix[:-1]
        assert len(shorter) < least or sum(one.startswith(shorter) for one in ids) > 1
        if prefix != item_id:
            assert short_ids.any_short([prefix])


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("m_3fa9", "memories"),
        ("b_3fa9c", "beliefs"),
        ("t_" + "a" * 31, "turns"),
        ("ep_0123", "episodes"),
        ("01939f2e", "events"),
        ("01939f2e-7b41-7", "events"),
    ],
)
def test_a_prefix_is_looked_up_among_ids_of_its_kind(given: str, kind: str) -> None:
    assert {name: ids for name, ids in short_ids.prefixes([given]).items() if ids} == {
        kind: [given]
    }
    assert short_ids.any_short(["x", given])


@pytest.mark.parametrize(
    "given",
    [
        *("m_" + "a" * 32, "m_3fa", "m_3FA9", "m_xyzw", "x_3fa9", "m_3fa9 ", "", "m_", "event 1"),
        *("deadbeef", "0193", "01939f2e-7b41-7000-8000-0123456789ab", "t_3fa9\n"),
    ],
)
def test_another_text_needs_no_query(given: str) -> None:
    assert not short_ids.any_short([given])
    assert not any(short_ids.prefixes([given]).values())


def test_ids_of_callers_are_not_shortened() -> None:
    whole = "m_" + "0" * 32
    found = short_ids.derived([whole, "my note", "m_3fa9", "evt-1", whole])
    assert found == {"memories": [whole], "beliefs": [], "turns": [], "episodes": []}


def test_the_id_that_is_the_prefix_is_meant() -> None:
    rows = [("ep_aaaa", "ep_aaaab"), ("ep_aaaa", "ep_aaaa"), ("t_bbbb", "t_bbbbd")]
    assert short_ids.matches(rows) == {"ep_aaaa": ["ep_aaaa"], "t_bbbb": ["t_bbbbd"]}


def test_a_reply_cites_what_its_block_showed() -> None:
    shown = {"t_3fa9": "t_3fa9" + "0" * 28, "m_1111": "m_1111" + "0" * 28}
    reply = f"Porto [t_3fa9]. Not [t_9999], [1] nor t_3fa9; [{shown['m_1111']}] [t_3fa9]"
    assert short_ids.cited(reply, shown) == [shown["t_3fa9"], shown["m_1111"]]
    assert short_ids.cited("[t_3fa9, m_1111]", shown) == list(shown.values())
    assert short_ids.cited("nothing", shown) == short_ids.cited("[t_3fa9]", {}) == []
