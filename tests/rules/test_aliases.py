"""Aliases: the newest declaration holds, and chains of aliases are refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from graphmem.errors import InvalidInputError, NameChainError
from graphmem.rules.claims import check_alias_chain
from tests.oracles.names import Naming, canonical, ways

BASE = datetime(2025, 5, 5, tzinfo=UTC)


def at(day: int) -> datetime:
    return BASE + timedelta(days=day)


def naming(name: str, key: str, other: str | None, day: int = 0, known: int = 0) -> Naming:
    return Naming(name, key, other, at(day), at(known))


def test_a_name_without_aliases_is_canonical() -> None:
    assert canonical("bob", []) == "bob"
    assert ways("bob", []) == ("bob",)


def test_the_newest_word_holds_by_its_time_and_then_its_id() -> None:
    namings = [naming("b", "bobby", "bob", 2), naming("a", "bobby", "rob", 2)]
    assert canonical("bobby", namings) == "bob"
    namings.append(naming("0", "bobby", None, 3, known=5))
    assert canonical("bobby", namings) == "bobby"
    assert canonical("bobby", namings, at(4)) == "bob"


def test_all_names_of_one_are_found_from_each_of_them() -> None:
    namings = [naming("1", "bobby", "bob"), naming("2", "rob", "bob"), naming("3", "al", "alice")]
    assert ways("bob", namings) == ("bob", "bobby", "rob")
    assert ways("rob", namings) == ("rob", "bob", "bobby")
    assert ways("alice", namings) == ("alice", "al")


@pytest.mark.parametrize(
    ("name", "other", "error", "hint"),
    [
        ("bob", "bob", InvalidInputError, "apart"),
        ("rob", "bobby", NameChainError, "Use 'Bob' as the canonical name"),
        ("bob", "carl", NameChainError, "an alias of 'carl' first"),
    ],
)
def test_chains_are_refused(name: str, other: str, error: type[Exception], hint: str) -> None:
    with pytest.raises(error, match=hint):
        check_alias_chain((name, name), (other, other), {"bobby": "Bob"})
    check_alias_chain(("rob", "rob"), ("bob", "bob"), {"bobby": "Bob"})
