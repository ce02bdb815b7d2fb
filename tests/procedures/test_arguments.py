"""An argument that does not fit is refused by name, and each procedure needs a tenant."""

from __future__ import annotations

from typing import Any

import neo4j
import pytest
from neo4j.exceptions import ClientError

from graphmem.local_server.plugin.java_source import ProcedureSpec, procedure_specs
from graphmem.model.policies import SprtParameters
from graphmem.settings import Settings
from tests.procedures.cases import needed
from tests.procedures.conftest import OFFERS, Asked, Populated, values


def refused(asked: Asked, offer: ProcedureSpec, arguments: list[Any]) -> str:
    """Return what a CALL that must be refused returns; nothing when it is answered."""
    try:
        asked.call(offer, arguments)
    except ClientError as error:
        return str(error.message)
    return ""


def test_the_tenant_is_never_null_or_empty(asked: Asked, populated: Populated) -> None:
    cases, wrong = needed(populated), []
    for name, offer in OFFERS.items():
        # One generated check serves all of them.
        empty = ("", " \n") if name == next(iter(OFFERS)) else ()
        for tenant in (None, *empty):
            told = "null" if tenant is None else "empty"
            given = values(offer, populated, cases[name]) | {"tenant": tenant}
            said = refused(asked, offer, [given[one.name] for one in offer.arguments])
            if f"{offer.name}: `tenant` must be a tenant name, not {told}." not in said:
                wrong.append((name, tenant, said))
    assert wrong == []


def test_the_tenant_cannot_be_left_out(asked: Asked) -> None:
    wrong = []
    for name, offer in OFFERS.items():
        said = refused(asked, offer, [])
        first = offer.arguments[0]
        named = offer.name in said and "tenant" in said
        if not (named and first.name == "tenant" and first.required):
            wrong.append((name, said))
    assert wrong == []


def test_what_is_needed_is_not_null(asked: Asked, populated: Populated) -> None:
    cases, wrong, asked_about = needed(populated), [], set[str]()
    for name, offer in OFFERS.items():
        given = values(offer, populated, cases[name])
        for one in offer.arguments[1:]:
            # Each name once: one generated check serves all procedures.
            if not one.required or one.name in asked_about:
                continue
            asked_about.add(one.name)
            arguments = [(given | {one.name: None})[each.name] for each in offer.arguments]
            said = refused(asked, offer, arguments)
            if f"{offer.name}: `{one.name}` must not be null." not in said:
                wrong.append((name, one.name, said))
    assert wrong == []
    assert len(asked_about) > 20


@pytest.mark.parametrize(
    ("name", "changed", "told"),
    [
        ("belief/current", {"limit": -1}, "`limit` must not be negative: -1."),
        ("belief/current", {"scopes": ["global", None]}, "`scopes` must not contain null."),
        (
            "belief/current",
            {"policy": {"kappa": 1.0}},
            "`policy` lacks the keys cardinality, combine, ",
        ),
        (
            "belief/test",
            {"test": {"uper": 1.0}},
            "`test` has unknown keys uper; known: upper, lower, ",
        ),
        ("recall/current", {"words": {}}, "`words` lacks the keys belief, memory, turn."),
        (
            "recall/current",
            {"scoring": {"vectors": 1.0}},
            "`scoring` has unknown keys vectors; known: score, ",
        ),
    ],
)
def test_a_bad_argument_is_named(
    asked: Asked, populated: Populated, name: str, changed: dict[str, Any], told: str
) -> None:
    offer = OFFERS[name]
    given = values(offer, populated, needed(populated)[name]) | changed
    said = refused(asked, offer, [given[one.name] for one in offer.arguments])
    assert f"{offer.name}: {told}" in said


@pytest.mark.parametrize(
    ("name", "changed", "told"),
    [
        ("belief/current", {"scopes": "global"}, "List<String>"),
        ("belief/current", {"limit": "many"}, "Integer"),
        ("belief/current", {"valid": "yesterday"}, "DateTime"),
        ("belief/current", {"policy": ["ONE"]}, "Map"),
        ("belief/current", {"default_policy": "ONE"}, "Map"),
        ("metrics/ratings", {"step": "little"}, "Float"),
    ],
)
def test_another_type_is_refused_by_the_server(
    asked: Asked, populated: Populated, name: str, changed: dict[str, Any], told: str
) -> None:
    offer = OFFERS[name]
    given = values(offer, populated, needed(populated)[name]) | changed
    said = refused(asked, offer, [given[one.name] for one in offer.arguments])
    assert told in said


def test_nothing_is_written(asked: Asked, populated: Populated) -> None:
    with asked.driver.session(default_access_mode=neo4j.WRITE_ACCESS) as session:
        found = session.run(
            "CALL graphmem.metrics.sizes($tenant)", {"tenant": populated.tenant}
        ).consume()
    assert not found.counters.contains_updates
    assert {row["mode"] for row in asked.run(SHOWN)} == {"READ"}


SHOWN = (
    "SHOW PROCEDURES YIELD name, mode, description, argumentDescription, returnDescription "
    "WHERE name STARTS WITH 'graphmem.' "
    "RETURN name, mode, description, argumentDescription, returnDescription"
)
TYPES = {
    "string": "STRING",
    "integer": "INTEGER",
    "float": "FLOAT",
    "boolean": "BOOLEAN",
    "datetime": "ZONED DATETIME",
    "list": "LIST<ANY>",
    "texts": "LIST<STRING>",
    "numbers": "LIST<FLOAT>",
    "map": "MAP",
    "node": "NODE",
    "relationship": "RELATIONSHIP",
}
"""As `SHOW PROCEDURES` calls them."""


def test_every_procedure_is_shown_with_its_types_and_what_they_mean(asked: Asked) -> None:
    shown = {row["name"]: row for row in asked.run(SHOWN)}
    assert shown.keys() == {offer.name for offer in OFFERS.values()}
    for offer in OFFERS.values():
        row = shown[offer.name]
        assert row["description"] == offer.procedure.summary
        assert [
            (one["name"], one["type"], one["description"], one["isDeprecated"])
            for one in row["argumentDescription"]
        ] == [(one.name, TYPES[one.kind], one.text, False) for one in offer.arguments]
        defaults = [one["name"] for one in row["argumentDescription"] if "default" in one]
        assert defaults == [one.name for one in offer.arguments if not one.required]
        assert [(one["name"], one["type"]) for one in row["returnDescription"]] == [
            (column.name, TYPES[column.kind]) for column in offer.columns
        ]


def test_what_is_assumed_follows_the_settings() -> None:
    settings = Settings(
        source_weights={"TOOL": 0.9, "HEARSAY": 0.2}, sprt=SprtParameters(promote_step=0.2)
    )
    [offer] = [one for one in procedure_specs(settings) if one.procedure.name == "belief/states"]
    assumed = {one.name: one.default for one in offer.arguments}
    assert assumed["weights"] is not None
    assert assumed["weights"].value["TOOL"] == 0.9
    assert assumed["weights"].value["HEARSAY"] == 0.2
    assert assumed["test"] is not None
    assert assumed["test"].value["promote_step"] == 0.2
