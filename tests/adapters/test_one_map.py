"""Strings, lists and what may be null go to Neo4j inside one map: they need no further plans."""

from __future__ import annotations

import re

import pytest

from graphmem import catalog
from graphmem.adapters.neo4j_graph import packed
from graphmem.catalog import in_one_map
from graphmem.ports import Mode, Query

TEXT = """// $name in a comment
RETURN $name AS name, '$name' AS quoted, $n AS n, size($names) AS names, `$names`, $by.names"""


def made(*sized: str) -> Query[object]:
    params = frozenset({"name", "names", "n", "by"})
    return Query("made", TEXT, Mode.READ, params, dict, frozenset(sized))


def test_only_what_has_a_length_is_read_from_the_map() -> None:
    assert in_one_map(made("name", "names")) == (
        "// $name in a comment\n"
        "RETURN $sized.name AS name, '$name' AS quoted, $n AS n, size($sized.names) AS names, "
        "`$names`, $by.names"
    )
    assert in_one_map(made()) == TEXT


def test_parameters_go_where_they_are_read() -> None:
    given = {"name": "a", "names": ["b"], "n": 1, "by": {"names": "c"}}
    assert packed(made("name", "names"), given) == {
        "sized": {"name": "a", "names": ["b"]},
        "n": 1,
        "by": {"names": "c"},
    }
    assert packed(made(), given) == given


@pytest.mark.parametrize("name", catalog.names())
def test_nothing_with_a_length_and_nothing_that_may_be_null_is_left_outside(name: str) -> None:
    found = catalog.procedure(name)
    query = catalog.query(name, dict)
    assert query.sized == {
        one.name
        for one in found.params
        if one.kind in {"string", "list"} or re.search(r"(^|; )null: ", one.text)
    }
    assert "sized" not in query.params
    text = re.sub("//.*", "", in_one_map(query))
    for sized in query.sized:
        assert f"$sized.{sized}" in text
        assert not re.search(rf"\${sized}\b", text)
