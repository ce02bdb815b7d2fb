"""Erasure of a person finds the name in every spelling, and an oracle finds none that is left."""

from __future__ import annotations

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import Handle
from graphmem.erasure import targets
from graphmem.items import PutItem
from tests.plugins.clients import on_tenant
from tests.plugins.examples import examples
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.spellings import NAMES, bare, named, sentences

NAME = "Jürgen Groß"
SPELT = [
    "JÜRGEN GROSS has diabetes",
    "Ju\u0308rgen Groß has diabetes",
    "Jürgen  Groß",
    "We met Jürgen\nGroß.",
    "Jürgen\u00a0Groß’s house",
    "Ｊürgen Ｇroß",
    "Jürgen\u200bGroß",
]
EVERY = (
    "MATCH (n) WHERE n.tenant = $tenant AND n.id IS NOT NULL "
    "UNWIND keys(n) AS k WITH n, n[k] AS x "
    "WHERE x IS :: STRING OR x IS :: LIST<STRING NOT NULL> "
    "RETURN labels(n)[0] AS label, n.id AS id, reduce(all = '', "
    "one IN CASE WHEN x IS :: STRING THEN [x] ELSE x END | all + ' | ' + one) AS text"
)


def holding(look: Look, tenant: str, name: str) -> set[tuple[str, str]]:
    """Return the nodes with a text in which the oracle finds the name."""
    rows = look.rows(EVERY, tenant=tenant)
    return {(row["label"], row["id"]) for row in rows if named(name, [row["text"]])}


@pytest.mark.parametrize("page", [1, 500])
def test_a_person_is_found_in_every_spelling(
    memory: Handle, look: Look, tenant: str, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    monkeypatch.setattr(targets, "TEXT_PAGE", page)
    memory.observe(NAME, "lives_in", "Porto")
    for n, text in enumerate(SPELT):
        memory.believe(f"{n}: {text}")
    memory.remember(SPELT[0])
    memory.session("s").add_messages([{"role": "user", "name": "jürgen GROSS", "content": "Hello"}])
    memory.items.batch([PutItem(namespace=("a",), key="k", value={"jürgen  gross": 1})])
    kept = memory.remember("Herr Groß called, and J. G. wrote").memory_id
    memory.remember("Jürgen Großmann called")
    assert memory.current("JÜRGEN\tGROSS", "lives_in").leader is not None

    plan = memory.admin.erase_person(NAME, include_mentions=True)
    done = memory.admin.erase_person(NAME, include_mentions=True, dry_run=False)

    assert done.counts == plan.counts
    assert done.counts["Belief"] == 1 + len(SPELT)
    assert done.clean
    assert [one.label for one in done.elsewhere] == ["Item"]
    assert {one.label for one in done.possible} == {"Memory"}
    assert str(kept) in {one.id for one in done.possible}
    assert (done.mentions, done.possible_mentions) == (1, 2)
    assert done.certificate is not None
    assert (done.certificate.mentions, done.certificate.possible_mentions) == (1, 2)
    assert "Same words in:    1 nodes" in done.certificate.to_text()
    # The other name begins with this one, and the item is reported.
    assert {label for label, _ in holding(look, tenant, NAME)} == {"Item", "Memory"}


@st.composite
def written(draw: st.DrawFn) -> tuple[str, list[str]]:
    """Return a name and texts with it in other spellings."""
    name = draw(st.sampled_from(NAMES))
    return name, draw(st.lists(sentences(name), min_size=1, max_size=6, unique_by=bare))


@hypothesis.settings(max_examples=examples(5, 20, 300))
@given(case=written())
def test_nothing_is_left_of_a_name_in_any_spelling(
    plain: Handle, look: Look, case: tuple[str, list[str]]
) -> None:
    name, texts = case
    memory = on_tenant(plain, fresh_tenant())
    memory.observe(name, "lives_in", "Porto", note=texts[0])
    for n, text in enumerate(texts):
        memory.believe(f"{n} {text}")
        memory.scope("user:bob").remember(f"A note by Bob: {text}")
    said = [{"role": "user", "content": f"I met {text}"} for text in texts]
    memory.session("s").add_messages(said)
    tenant = memory._state.context.tenant

    done = memory.admin.erase_person(name, include_mentions=True, dry_run=False)

    assert (done.clean, done.mentions) == (True, 0)
    assert holding(look, tenant, name) == set()


def test_the_same_words_in_other_case_are_named(plain: Handle) -> None:
    known = plain.observe("ann", "has condition", "Lupus").belief_id
    other = plain.remember("Ann has  condition “lupus”")
    same = plain.remember("We know that Ann HAS condition Lupus.").memory_id
    done = plain.forget("belief", str(known), dry_run=False)
    assert [one.id for one in done.elsewhere] == [str(same)]
    assert done.mentions == 1
    assert str(other.memory_id) != str(same)
    assert done.certificate is not None
    assert done.certificate.mentions == 1
