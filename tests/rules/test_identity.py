"""Normal forms, hashes and ids."""

from __future__ import annotations

import hashlib
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphmem.rules import identity

# Few letters, the separators among them, so that collisions would be met soon.
parts = st.lists(st.text("a\x1e\x1fes-", max_size=4), min_size=1, max_size=4)
words = st.text(st.characters(codec="utf-8"), max_size=20)
spaces = st.text(" \t\n\r\u00a0\u3000\x1f", min_size=1, max_size=3)


@given(one=parts, other=parts)
@example(one=["a\x1f", "b"], other=["a", "\x1fb"])
@example(one=["a", "b"], other=["a\x1fb"])
@example(one=["a\x1e", "b"], other=["a", "\x1eb"])
def test_different_parts_have_different_digests(one: list[str], other: list[str]) -> None:
    assert (identity.digest(*one) == identity.digest(*other)) == (one == other)


@given(words)
def test_the_digest_of_one_plain_part_is_its_sha256(text: str) -> None:
    plain = text.replace("\x1e", "").replace("\x1f", "")
    assert identity.digest(plain) == hashlib.sha256(plain.encode()).hexdigest()


def test_a_lone_surrogate_has_a_digest_of_its_own() -> None:
    digests = {identity.digest(text) for text in ("\ud800", "\ud801", "?", "\ufffd", "")}
    assert len(digests) == 5


@given(text=words, space=spaces)
def test_white_space_makes_no_difference(text: str, space: str) -> None:
    spread = space + space.join(text.split()) + space
    assert identity.content_hash(spread) == identity.content_hash(text)


@given(words)
def test_the_normal_form_is_its_own(text: str) -> None:
    once = identity.normalise(text)
    assert identity.normalise(once) == once


@pytest.mark.parametrize(
    ("one", "other"), [("Zoe\u0308", "Zoë"), ("a\u3000b", "a b"), ("a\r\nb", "a b"), ("  a", "a")]
)
def test_one_content(one: str, other: str) -> None:
    assert identity.content_hash(one) == identity.content_hash(other)


@pytest.mark.parametrize(
    ("one", "other"), [("Zoë", "zoë"), ("a.", "a"), ("ﬁ", "fi"), ("a b", "ab"), ("１", "1")]
)
def test_two_contents(one: str, other: str) -> None:
    assert identity.content_hash(one) != identity.content_hash(other)


names = st.text("ab\x1f", min_size=1, max_size=3)


@given(scope=names, other=names, text=words)
def test_ids_differ_by_scope(scope: str, other: str, text: str) -> None:
    same = scope == other
    assert (identity.memory_id(scope, text) == identity.memory_id(other, text)) == same
    assert (identity.episode_id(scope, text) == identity.episode_id(other, text)) == same
    assert (identity.scope_key("t", scope) == identity.scope_key("t", other)) == same
    assert (identity.tenant_key(scope) == identity.tenant_key(other)) == same
    assert identity.scope_key(scope, other) != identity.tenant_key(scope)


def test_ids_of_different_kinds_differ() -> None:
    made = [identity.memory_id("s", "x"), identity.episode_id("s", "x"), identity.turn_id("s", "x")]
    assert [one[: one.index("_") + 1] for one in made] == ["m_", "ep_", "t_"]
    assert all(len(one.partition("_")[2]) == 32 for one in made)


@given(names)
def test_keys_are_one_word_that_no_analyser_splits(name: str) -> None:
    facet = identity.facet_key(name, "tag", name)
    for key in (identity.tenant_key(name), identity.scope_key(name, name), facet):
        assert len(key) == 32
        assert set(key) <= set("0123456789abcdef")


kinds = st.sampled_from(["tag", "source"])


@given(one=st.tuples(names, kinds, names), other=st.tuples(names, kinds, names))
@example(one=("a", "tag", "b"), other=("a", "source", "b"))
@example(one=("a\x1f", "tag", "b"), other=("a", "tag", "\x1fb"))
def test_facets_differ_by_tenant_kind_and_name(
    one: tuple[str, identity.Facet, str], other: tuple[str, identity.Facet, str]
) -> None:
    assert (identity.facet_key(*one) == identity.facet_key(*other)) == (one == other)
    assert identity.facet_key(*one) != identity.scope_key(one[0], one[2])


@given(tags=st.lists(names), sources=st.lists(names))
def test_the_keys_of_a_memory_are_those_of_each_tag_and_source(
    tags: list[str], sources: list[str]
) -> None:
    found = identity.facet_keys("t", tags, sources)
    assert found == sorted(
        {identity.facet_key("t", "tag", tag) for tag in tags}
        | {identity.facet_key("t", "source", source) for source in sources}
    )


instants = st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 31)).map(  # noqa: DTZ001
    lambda at: at.replace(tzinfo=UTC)
)


@given(instants)
def test_an_event_id_is_a_uuid_of_version_7(at: datetime) -> None:
    made = uuid.UUID(identity.event_id(at))
    assert str(made) == identity.event_id(at)[:13] + str(made)[13:]
    assert made.version == 7
    assert made.variant == uuid.RFC_4122
    milliseconds = made.int >> 80
    assert datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds) == at.replace(
        microsecond=at.microsecond // 1000 * 1000
    )


@given(instants, instants)
def test_event_ids_sort_by_the_millisecond(one: datetime, other: datetime) -> None:
    earlier, later = sorted((one, other))
    if later - earlier >= timedelta(milliseconds=1):
        assert identity.event_id(earlier) < identity.event_id(later)


def test_event_ids_of_one_instant_are_all_different() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    made = [uuid.UUID(identity.event_id(at)) for _ in range(2_000)]
    assert len(set(made)) == 2_000
    ones = [sum(one.int >> bit & 1 for one in made) for bit in range(80)]
    fixed = {bit for bit, count in enumerate(ones) if count in (0, 2_000)}
    # The version takes four of the lower 80 bits and the variant two; the others are random.
    assert fixed == {62, 63, 76, 77, 78, 79}


@given(st.lists(st.sampled_from(["a", "b", "c"]).map(lambda k: (k,))))
def test_ordinals_count_what_stands_before(keys: list[tuple[str, ...]]) -> None:
    assert identity.ordinals(keys) == [keys[:i].count(key) for i, key in enumerate(keys)]


scopes = st.sampled_from(["global", "user:ann", "user:bob"])
writers = st.sampled_from(["person", "model", "imported"])
derived = st.sampled_from(["said_t_", "graduate_", "compress_episode_", "m_"]).map(
    lambda prefix: prefix + identity.digest(prefix)[:32]
)


@given(scopes, writers, scopes, writers, st.text(min_size=1, max_size=9) | derived)
def test_a_given_event_id_is_of_its_scope_and_class(
    scope: str, writer: str, other_scope: str, other_writer: str, given_: str
) -> None:
    mine = identity.given_event_id(scope, writer, given_)
    theirs = identity.given_event_id(other_scope, other_writer, given_)
    assert (mine == theirs) == ((scope, writer) == (other_scope, other_writer))
    assert identity.given_event_id(scope, writer, mine) == mine
    # No writer reaches the events of another by giving their ids as results show them.
    if (scope, writer) != (other_scope, other_writer):
        assert identity.given_event_id(other_scope, other_writer, mine) != mine


@given(scopes, writers, derived)
def test_no_given_event_id_is_a_derived_one(scope: str, writer: str, name: str) -> None:
    assert identity.given_event_id(scope, writer, name) != name
