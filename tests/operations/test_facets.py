"""Memories carry digests of their tags and sources, which a search by words can ask for."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, LiteralString

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import Handle, NewMemory
from graphmem.model import Origin, Status, TenantScope
from graphmem.rules import fulltext, identity
from tests.plugins.clients import on_tenant
from tests.plugins.examples import examples
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.texts import restated, unlike

EXAMPLES = examples(10, 100, 500)
KEPT = (
    "MATCH (m:Memory {tenant: $tenant}) WHERE m.id IS NOT NULL "
    "RETURN m.id AS id, m.tags AS tags, m.sources AS sources, m.facet_keys AS facet_keys"
)
FOUND = (
    "CALL db.index.fulltext.queryNodes('memory_content_fulltext', $words) YIELD node, score "
    "RETURN node.id AS id, score"
)


def kept(look: Look, tenant: str) -> dict[str, dict[str, Any]]:
    return {row.pop("id"): row for row in look.rows(KEPT, tenant=tenant)}


def keys(tenant: str, tags: list[str], sources: list[str]) -> list[str]:
    return sorted(
        [identity.facet_key(tenant, "tag", tag) for tag in tags]
        + [identity.facet_key(tenant, "source", source) for source in sources]
    )


def test_a_memory_knows_its_tags_and_where_it_was_said(
    memory: Handle, look: Look, tenant: str
) -> None:
    first = memory.remember(unlike(1), tags=["home", "b"], source="chat")
    [found] = kept(look, tenant).values()
    assert found["sources"] == ["chat"]
    assert found["facet_keys"] == keys(tenant, ["b", "home"], ["chat"])
    for _ in range(2):
        memory.remember(unlike(1), tags=["work"], source="api")
    assert kept(look, tenant) == {
        first.memory_id: {
            "tags": ["b", "home", "work"],
            "sources": ["api", "chat"],
            "facet_keys": keys(tenant, ["b", "home", "work"], ["api", "chat"]),
        }
    }
    assert memory.admin.verify().wrong == ()


def test_what_another_scope_says_stays_its_own(memory: Handle, look: Look, tenant: str) -> None:
    memory.remember(unlike(1), tags=["home"], source="chat")
    done = memory.scope("alice").remember(unlike(1), tags=["secret"], source="diary")
    assert done.outcome == "EXACT_DUPE"
    [found] = kept(look, tenant).values()
    assert (found["tags"], found["sources"]) == (["home"], ["chat"])
    assert found["facet_keys"] == keys(tenant, ["home"], ["chat"])
    assert memory.admin.verify().wrong == ()


def asked(memory: Handle, look: Look, text: str, facets: list[str], **wall: Any) -> set[str]:
    """Return what a walled query finds; every match by facets alone has the score 0."""
    own = TenantScope(tenant=memory._state.context.tenant, scope="global", scopes=("global",))
    own = own.model_copy(update=wall)
    if text:
        query = fulltext.memory_query(text, own, [Status.CURRENT], facets)
    else:
        query = fulltext.facet_query(own, [Status.CURRENT], facets)
    rows = look.rows(FOUND, words=query)
    assert all((row["score"] > 0) == bool(text) for row in rows)
    return {row["id"] for row in rows}


def test_a_search_asks_for_all_of_them_inside_the_wall(
    memory: Handle, look: Look, tenant: str
) -> None:
    other = on_tenant(memory, fresh_tenant())
    ids = [
        str(handle.remember(f"{unlike(n)} vineyard", tags=tags, source=source).memory_id)
        for n, (handle, tags, source) in enumerate(
            [
                (memory, ["home", "x"], "chat"),
                (memory, ["home"], "api"),
                (memory, [], "chat"),
                (memory.scope("alice"), ["home"], "chat"),
                (other, ["home"], "chat"),
            ]
        )
    ]
    home = identity.facet_key(tenant, "tag", "home")
    chat = identity.facet_key(tenant, "source", "chat")
    for text in ("vineyard", ""):
        assert asked(memory, look, text, [home]) == {ids[0], ids[1]}
        assert asked(memory, look, text, [chat]) == {ids[0], ids[2]}
        assert asked(memory, look, text, [home, chat]) == {ids[0]}
        both = asked(memory, look, text, [home, chat], scopes=("global", "alice"))
        assert both == {ids[0], ids[3]}
        # A tag is no source, and another tenant's digests are others.
        assert asked(memory, look, text, [identity.facet_key(tenant, "source", "home")]) == set()
        assert asked(other, look, text, [home]) == set()
    assert asked(memory, look, "elsewhere", [home]) == set()
    memory.memories.deprecate(ids[0])
    assert asked(memory, look, "", [home]) == {ids[1]}


@pytest.mark.parametrize(
    "change",
    [
        "n.sources = null, n.facet_keys = null",
        "n.sources = []",
        "n.facet_keys = n.facet_keys + 'ffffffffffffffffffffffffffffffff'",
        "n.facet_keys = n.facet_keys[1..]",
        "n.sources = n.sources + 'x'",
    ],
)
def test_spoilt_facets_are_found_and_made_anew(
    plain: Handle, look: Look, tenant: str, change: LiteralString
) -> None:
    plain.remember(unlike(1), tags=["home"], source="chat")
    plain.remember(unlike(1), source="api")
    plain.remember(unlike(2))
    sound = kept(look, tenant)
    look._driver.execute_query(
        "MATCH (n:Memory {tenant: $tenant}) WHERE 'home' IN n.tags AND n.id IS NOT NULL SET "
        + change,
        tenant=tenant,
    )
    [wrong] = plain.admin.verify().wrong
    assert (wrong.kind, wrong.cached) == ("memory", "current, facets differ")
    assert wrong.found == "current"
    assert [one.id for one in plain.admin.rebuild().wrong] == [wrong.id]
    assert kept(look, tenant) == sound
    assert plain.admin.verify().wrong == ()


def test_memories_of_before_are_completed_by_what_is_said_and_by_a_rebuild(
    plain: Handle, look: Look, tenant: str
) -> None:
    """As a version without facets left them."""
    plain.remember(unlike(1), tags=["home"], source="chat")
    look._driver.execute_query(
        "MATCH (n:Memory {tenant: $tenant}) WHERE n.id IS NOT NULL REMOVE n.sources, n.facet_keys",
        tenant=tenant,
    )
    plain.remember(unlike(1), source="api")
    [found] = kept(look, tenant).values()
    assert found["facet_keys"] == keys(tenant, ["home"], ["api"])
    plain.admin.rebuild()
    [found] = kept(look, tenant).values()
    assert found["facet_keys"] == keys(tenant, ["home"], ["api", "chat"])


SAID = st.tuples(
    st.sampled_from([unlike(0), unlike(1), restated(0), restated(5)]),
    st.sampled_from(["global", "alice"]),
    st.lists(st.sampled_from(["a", "b", "c"]), max_size=2, unique=True),
    st.sampled_from(["chat", "api"]),
    st.sampled_from(["one", "many", "supersede"]),
)


@hypothesis.settings(max_examples=EXAMPLES)
@given(st.lists(SAID, min_size=1, max_size=8))
def test_whatever_is_said_the_facets_are_those_of_its_events(
    plain: Handle, look: Look, said: list[tuple[str, str, list[str], str, str]]
) -> None:
    tenant = fresh_tenant()
    memory = on_tenant(plain, tenant)
    heard: dict[str, set[str]] = defaultdict(set)
    for text, scope, tags, source, how in said:
        handle = memory.scope(scope)
        if how == "supersede":
            older = handle.remember(f"{unlike(9)} {text}", source=source)
            done = [
                handle.supersede(
                    str(older.memory_id), text, tags=tags, origin=Origin(source=source)
                ).newer_id
            ]
            done.append(str(older.memory_id))
        else:
            texts = [text] if how == "one" else [text, unlike(5), text]
            wishes = [NewMemory(content=one, tags=tuple(tags), source=source) for one in texts]
            done = [str(o.memory_id) for o in handle.remember_many(wishes)]
        for memory_id in done:
            heard[memory_id].add(f"{scope}:{source}")
    assert memory.admin.verify().wrong == ()
    rows = look.rows(
        "MATCH (m:Memory {tenant: $tenant}) WHERE m.id IS NOT NULL "
        "RETURN m.id AS id, m.scope AS scope, m.tags AS tags, m.sources AS sources, "
        "m.facet_keys AS facet_keys",
        tenant=tenant,
    )
    assert {row["id"] for row in rows} == {*heard}
    for row in rows:
        own = sorted({s.split(":")[1] for s in heard[row["id"]] if s.startswith(row["scope"])})
        assert row["sources"] == own
        assert row["facet_keys"] == keys(tenant, row["tags"], own)
