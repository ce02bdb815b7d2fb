"""Cypher files are refused unless header and body agree; fragments are pasted in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import CatalogError
from graphmem.graph import catalog
from graphmem.ports import Mode
from tests.plugins.cypher_fragments import Fragment, fragment, misfits

GOOD = """// What a caller gets,
// in two lines.
// mode: read
// rows: one
// source: a paper
// plan: NodeIndexSeek
//   NodeUniqueIndexSeek
// allow: CartesianProduct
// params:
//   $tenant  string  whose
//   $limit   integer  rows, >= 1
// columns:
//   - id  string  of the node
//   - n   integer  how often

MATCH (n {tenant: $tenant})
RETURN n.id AS id, 1 AS n
LIMIT $limit
"""
BODY = GOOD.partition("\n\n")[2]
COMMON = "Same everywhere.\n\n$tenant  string  tenant name\n\n$known  datetime  time; null: none\n"

Files = Callable[[dict[str, str]], Path]


@pytest.fixture
def cypher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Files]:
    """Let a test say which files stand under cypher/."""

    def write(files: dict[str, str]) -> Path:
        files = {"parameters.txt": COMMON, **files}
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        return tmp_path

    monkeypatch.setattr(catalog, "folder", {"cypher": tmp_path}.__getitem__)
    forget()
    yield write
    monkeypatch.undo()
    forget()


def forget() -> None:
    """Clear what the catalog has read."""
    for cached in (catalog.names, catalog.procedure, catalog.fragment, catalog.common_params):
        cached.cache_clear()


def test_a_header_says_what_a_file_is() -> None:
    found = catalog.parse("a/b", GOOD)
    assert (found.name, found.mode, found.rows) == ("a/b", Mode.READ, "one")
    assert found.summary == "What a caller gets, in two lines."
    assert found.plan == ("NodeIndexSeek", "NodeUniqueIndexSeek")
    assert found.allow == ("CartesianProduct",)
    assert found.params == (
        catalog.HeaderEntry("tenant", "string", "whose"),
        catalog.HeaderEntry("limit", "integer", "rows, >= 1"),
    )
    assert [c.name for c in found.columns] == ["id", "n"]
    assert found.text == BODY.strip()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "must start with comment lines"),
        ("RETURN 1", "must start with comment lines"),
        (GOOD.replace("\n\n", "\n"), "must start with comment lines"),
        ("RETURN 1\n\nRETURN 2", "must start with comment lines"),
        (GOOD.replace("// in two", "in two"), "must start with comment lines"),
        (GOOD.replace("// mode: read\n", ""), "mode: read|write|schema"),
        (GOOD.replace("mode: read", "mode: delete"), "mode: read|write|schema"),
        (GOOD.replace("mode: read", "mode:"), "mode: read|write|schema"),
        (GOOD.replace("// rows: one\n", ""), "rows: none|one|many"),
        (GOOD.replace("rows: one", "rows: few"), "rows: none|one|many"),
        (GOOD.replace("rows: one", "row: one"), "'row' is unknown"),
        (GOOD.replace("rows: one", "mode: write"), "'mode' is unknown or repeated"),
        (GOOD.replace("$limit ", "$most "), "unused ['most'], used but undeclared []"),
        (GOOD.replace("LIMIT $limit", ""), "unused ['limit'], used but undeclared []"),
        (GOOD.replace("LIMIT $limit", "LIMIT 1 // $limit"), "unused ['limit']"),
        (GOOD.replace("LIMIT $limit", "LIMIT '$limit'"), "unused ['limit']"),
        (GOOD.replace("LIMIT $limit", "LIMIT $`limit`"), "unused ['limit']"),
        (GOOD.replace("1 AS n", "$extra AS n"), "used but undeclared ['extra']"),
        (GOOD.replace("1 AS n", "'// ' + $extra AS n"), "used but undeclared ['extra']"),
        (GOOD.replace("1 AS n", "'it\\'s' + $extra AS n"), "used but undeclared ['extra']"),
        (GOOD.replace("integer  rows", "integer rows"), "cannot read header line '//   $limit"),
        (GOOD.replace("//   - id  string  of the node", "//   - id"), "cannot read header line"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(CatalogError) as refused:
        catalog.parse("a/b", text)
    assert complaint.replace("`", "") in str(refused.value).replace("`", "")
    assert str(refused.value).startswith("a/b: ")


def test_a_parameter_that_means_the_same_everywhere_needs_no_declaration(cypher: Files) -> None:
    text = GOOD.replace("//   $tenant  string  whose\n", "").replace("1 AS n", "$known AS n")
    cypher({"a/b.cypher": text, "a/c.cypher": GOOD})
    found = catalog.procedure("a/b").params
    assert [entry.name for entry in found] == ["tenant", "limit", "known"]
    assert found[0].text == "tenant name"
    assert found[2].is_nullable
    assert catalog.procedure("a/c").params[0].text == "whose"


def test_a_fragment_is_pasted_with_its_indent_and_its_parameters_count(cypher: Files) -> None:
    cypher(
        {
            "fragments/part.cypher": "// A part.\n\nWHERE n.id = $id\n\n  AND true\n",
            "a/b.cypher": GOOD.replace("RETURN", "  // include: fragments/part.cypher\nRETURN", 1),
            "a/c.cypher": GOOD.replace(
                "RETURN", "// include: fragments/part.cypher\nRETURN", 1
            ).replace("$limit   integer", "$id  string  one\n//   $limit   integer"),
        }
    )
    with pytest.raises(CatalogError, match=r"undeclared \['id'\]"):
        catalog.procedure("a/b")
    assert catalog.procedure("a/c").text.splitlines()[1:5] == [
        "WHERE n.id = $id",
        "",
        "  AND true",
        "RETURN n.id AS id, 1 AS n",
    ]
    indented = catalog.expand("  // include: fragments/part.cypher\nRETURN 1")
    assert indented.strip().splitlines() == ["WHERE n.id = $id", "", "    AND true", "RETURN 1"]


def test_a_fragment_includes_others(cypher: Files) -> None:
    files = {
        "fragments/inner.cypher": "// Inner.\n\nWITH n, $limit AS l\n",
        "fragments/outer.cypher": "// Outer.\n\n  // include: fragments/inner.cypher\n",
        "a/b.cypher": GOOD.replace("RETURN", "  // include: fragments/outer.cypher\nRETURN", 1),
    }
    cypher(files)
    assert "\n    WITH n, $limit AS l\n" in catalog.procedure("a/b").text


FRAGMENT = "// Sum.\n// needs: n, m\n// leaves: total\n\nWITH *, n.x + m.x AS total\n"
INCLUDED = "// include: fragments/sum.cypher\n"


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("MATCH (n)--(m)", "RETURN total", None),
        ("MATCH (n) LET m = n", "", None),
        ("UNWIND [1] AS n\nWITH n, 2 AS m", "", None),
        ("MATCH (n)-[m:SUPERSEDES]->()", "", None),
        ("CALL () { MATCH (n) RETURN n, n AS m }", "", None),
        ("MATCH (n), (m) CALL (n, m) {", "RETURN total }", None),
        ("MATCH (n), (m) LET x = COLLECT {", "RETURN total }", None),
        ("CALL db.index.f('a') YIELD node AS n, m", "", None),
        ("MATCH (n) WHERE n.id STARTS WITH 'm' WITH *, 1 AS m", "", None),
        ("MATCH (n)", "", "`needs` declares m"),
        ("MATCH (n), (m) WITH n", "", "`needs` declares m"),
        ("MATCH (n), (m) CALL (n) {", "RETURN total }", "`needs` declares m"),
        ("MATCH (n), (m) RETURN n, m UNION", "", "`needs` declares m, n"),
        ("CALL () { MATCH (n), (m) RETURN n }", "", "`needs` declares m"),
        ("RETURN [n IN [1] | {m: 'm'}] AS x // n, m", "", "`needs` declares m, n"),
    ],
)
def test_what_a_fragment_needs_is_in_scope_or_it_is_found(
    cypher: Files, before: str, after: str, complaint: str | None
) -> None:
    cypher({"fragments/sum.cypher": FRAGMENT})
    body = f"{before}\n{INCLUDED}{after}"
    found = misfits(body)[:1]
    assert found == ([] if complaint is None else [f"fragments/sum: {complaint}"])


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (
            "WITH n.x + m.x AS sum",
            "`leaves` declares total",
        ),
        ("CALL (n) { RETURN n.x AS total }", None),
        ("CALL (n) { LET total = n.x RETURN total AS sum }", "`leaves` declares total"),
        ("RETURN total(n) AS sum", "`leaves` declares total"),
    ],
)
def test_a_fragment_leaves_what_it_declares_or_is_found(
    cypher: Files, body: str, complaint: str | None
) -> None:
    cypher({"fragments/sum.cypher": FRAGMENT.partition("\n\n")[0] + f"\n\n{body}\n"})
    text = f"MATCH (n), (m)\n{INCLUDED}RETURN 1 AS one"
    found = misfits(text)[:1]
    assert found == ([] if complaint is None else [f"fragments/sum: {complaint}"])


def fragments() -> list[Fragment]:
    folder = catalog.folder("cypher") / "fragments"
    return [fragment(f"fragments/{path.stem}") for path in sorted(folder.iterdir())]


def mentioned(text: str) -> set[str]:
    return set(re.findall(r"(?:(?<=\.\.)|(?<![.$\w]))[A-Za-z_]\w*", re.sub("//.*", "", text)))


@pytest.mark.parametrize("name", catalog.names())
def test_what_fragments_declare_holds_where_they_are_included(name: str) -> None:
    text = (catalog.folder("cypher") / f"{name}.cypher").read_text("utf-8")
    assert misfits(text.partition("\n\n")[2]) == []
    assert "include:" not in catalog.procedure(name).text


def test_what_a_fragment_declares_is_in_its_body_and_used_after_it() -> None:
    bodies = {
        name: (catalog.folder("cypher") / f"{name}.cypher").read_text("utf-8").partition("\n\n")[2]
        for name in (*catalog.names(), *(one.name for one in fragments()))
    }
    for one in fragments():
        # The names that it needs may be used by the fragments that it includes.
        inner = re.findall(r"// include: (\S+)\.cypher", one.body)
        within = mentioned(one.body).union(*(fragment(name).needs for name in inner))
        assert one.needs <= within, one.name
        parts = [text.split(f"include: {one.name}.cypher")[1:] for text in bodies.values()]
        after = "".join(text for found in parts for text in found)
        needed = [fragment(n).needs for n in re.findall(r"include: (\S+)\.cypher", after)]
        assert one.leaves <= mentioned(after).union(*needed), one.name


def test_names_are_paths_without_fragments(cypher: Files) -> None:
    cypher({"b/y.cypher": GOOD, "a/x.cypher": GOOD, "fragments/f.cypher": GOOD, "a/README.md": ""})
    assert catalog.names() == ("a/x", "b/y")


def test_every_file_that_ships_is_accepted() -> None:
    for name in catalog.names():
        assert catalog.procedure(name).name == name
    assert "commit/find_existing" in catalog.names()


@pytest.mark.parametrize("name", ["commit/nothing", "", "../README", "fragments/nothing"])
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(CatalogError, match="no such file under cypher/"):
        catalog.procedure(name)


def test_a_query_is_bound_to_its_record() -> None:
    query = catalog.query("schema/unlock", catalog.ignored)
    assert (query.name, query.mode, query.params) == (
        "schema/unlock",
        Mode.WRITE,
        frozenset({"owner"}),
    )
    assert query.text == catalog.procedure("schema/unlock").text
    query.row({"owner": "x"})


def test_a_procedure_is_shown_with_its_parameters_as_a_command_of_its_own() -> None:
    assert catalog.pasted(catalog.parse("a/b", GOOD)).splitlines() == [
        "// graphmem: a/b",
        "// What a caller gets, in two lines.",
        "// $tenant: whose",
        "// $limit: rows, >= 1",
        "// Run this first, filled in:",
        '// :param tenant => ""; :param limit => 8',
        "CYPHER 25",
        *f"{BODY.strip()};".splitlines(),
    ]


def test_a_filled_procedure_is_one_statement() -> None:
    text = """// One. Two.
// mode: read
// rows: one
// params:
//   $a  string  of it
// columns:

RETURN $a, '$a', "\\"$a" // $a
// of $a

, `$a`"""
    found = catalog.parse("a/b", text)
    filled = catalog.filled(found, {"a": "$a", "b": 1})
    assert filled.splitlines() == [
        "// One.",
        "// Two.",
        "CYPHER 25",
        'RETURN "$a", \'$a\', "\\"$a" ',
        ", `$a`;",
    ]
    with pytest.raises(KeyError):
        catalog.filled(found, {})


def test_the_wheel_carries_its_own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = Path(catalog.__file__).parents[2]
    monkeypatch.setattr(resources, "files", lambda package: tmp_path / package)
    assert catalog.folder("cypher") == checkout / "cypher"
    packaged = tmp_path / "graphmem" / "_cypher"
    packaged.mkdir(parents=True)
    assert catalog.folder("cypher") == packaged
    assert catalog.folder("migrations") == checkout / "migrations"


words = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True)


@given(declared=st.sets(words, max_size=4), used=st.sets(words, max_size=4))
def test_declared_and_used_parameters_are_the_same_or_it_is_refused(
    declared: set[str], used: set[str]
) -> None:
    head = "".join(f"//   ${name}  any  of it\n" for name in sorted(declared))
    body = " + ".join(["1", *(f"${name}" for name in sorted(used))])
    text = f"// One.\n// mode: read\n// rows: one\n// params:\n{head}// columns:\n\nRETURN {body}"
    if declared == used:
        assert {p.name for p in catalog.parse("a/b", text).params} == used
    else:
        with pytest.raises(CatalogError) as refused:
            catalog.parse("a/b", text)
        for name in declared ^ used:
            assert repr(name) in str(refused.value)


@given(st.text(max_size=200).filter(lambda text: "mode:" not in text))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(CatalogError):
        catalog.parse("a/b", text)


@given(st.sampled_from(GOOD.splitlines(keepends=True)), st.integers(0, 20))
def test_a_line_lost_or_doubled_is_read_or_refused(line: str, at: int) -> None:
    for text in (GOOD.replace(line, "", 1), GOOD[:at] + line + GOOD[at:]):
        try:
            found = catalog.parse("a/b", text)
        except CatalogError:
            continue
        assert {p.name for p in found.params} == {"tenant", "limit"}
