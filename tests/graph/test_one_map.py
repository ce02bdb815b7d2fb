"""Strings, lists and what may be null go to Neo4j inside one map: they need no further plans."""

from __future__ import annotations

import re

from graphmem.graph import catalog
from graphmem.graph.catalog import in_one_map
from graphmem.graph.driver import packed
from graphmem.ports import Mode, Query

TEXT = """// $name in a comment
RETURN $name AS name, '$name' AS quoted, $n AS n, size($names) AS names, `$names`, $by.names"""


def made(*sized: str) -> Query[object]:
    params = frozenset({"name", "names", "n", "by"})
    return Query("made", TEXT, Mode.READ, params, dict, sized=frozenset(sized))


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


def outside(name: str) -> list[str]:
    """Return what has a length, or may be null, and is not given to a query in its one map."""
    found = catalog.procedure(name)
    query = catalog.query(name, dict)
    expected = {
        one.name
        for one in found.params
        if one.kind in {"string", "list"} or re.search(r"(^|; )null: ", one.text)
    }
    text = re.sub("//.*", "", in_one_map(query))
    return [
        *sorted(query.sized ^ expected),
        *({"sized"} & query.params),
        *(one for one in query.sized if f"$sized.{one}" not in text),
        *(one for one in query.sized if re.search(rf"\${one}\b", text)),
    ]


def test_nothing_with_a_length_and_nothing_that_may_be_null_is_left_outside() -> None:
    assert catalog.names()
    assert {name: left for name in catalog.names() if (left := outside(name))} == {}


def test_the_driver_formats_no_maps_for_its_log() -> None:
    """It formats parameters even if it logs nothing, which takes longer than sending them."""
    given = {"name": "secret", "names": ["secret"], "n": 1, "by": {"names": "secret"}}
    sent = packed(made("name", "names"), given)
    assert "secret" not in repr(sent)
    assert dict(sent["by"]) == given["by"]
