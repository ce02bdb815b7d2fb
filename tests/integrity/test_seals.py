"""Digests of events and of the seals that cover them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem.integrity import seals
from graphmem.integrity.seals import Seal, SealCheck
from graphmem.model import EventType

MAY = datetime(2025, 5, 5, 1, 2, 3, 456789, tzinfo=UTC)
LINK = {"type": "SUPPORTS", "label": "Belief", "key": "b_1"}
PROPERTIES: dict[str, Any] = {
    "type": "EVIDENCE",
    "confidence": 0.5,
    "polarity": 1,
    "tau_days": float("inf"),
    "occurred_at": MAY,
}


def digest(link: dict[str, str] = LINK, **changes: Any) -> str:
    """Return the digest of an event with changed properties."""
    given = {"tenant": "t", "id": "e"} | PROPERTIES | changes
    return seals.stored_digest({"id": given["id"], "properties": given, "links": [link]})


@pytest.mark.parametrize(
    "changed",
    [
        {"confidence": 0.5000000000000001},
        {"polarity": -1},
        {"tau_days": 1e300},
        {"occurred_at": MAY + timedelta(microseconds=1)},
        {"id": "f"},
        {"payload": ""},
        {"link": LINK | {"type": "REFUTES"}},
        {"link": LINK | {"key": "b_2"}},
        {"link": LINK | {"label": "Memory"}},
    ],
)
def test_a_changed_event_has_another_digest(changed: dict[str, Any]) -> None:
    assert digest(**changed) != digest()


@pytest.mark.parametrize(
    "equal", [{"tenant": "other"}, {"polarity": 1.0}, {"occurred_at": MAY.astimezone(UTC)}]
)
def test_an_import_keeps_the_digest(equal: dict[str, Any]) -> None:
    assert digest(**equal) == digest()


def test_links_have_no_order_and_those_to_events_do_not_count() -> None:
    other, event = LINK | {"key": "b_2"}, LINK | {"type": "RETRACTS", "label": "Event"}
    made = {
        seals.event_digest("e", {}, links)
        for links in ([LINK, other], [other, LINK], [event, LINK, other])
    }
    assert len(made) == 1


def test_every_type_of_event_is_sealed_or_telemetry() -> None:
    assert {*seals.SEALED} | seals.TELEMETRY == {*EventType}
    assert len(seals.SEALED) == len(EventType) - 5


def chain(*pages: dict[str, str]) -> list[Seal]:
    """Return the seals of pages of events."""
    made: list[Seal] = []
    for page in pages:
        before = (made[-1].id, made[-1].digest) if made else None
        made.append(seals.make(before, MAY, page, seals.salts(5)))
    return made


FIRST, SECOND = {"a": digest(id="a"), "b": digest(id="b")}, {"c": digest(id="c")}


def test_a_whole_chain_has_no_findings() -> None:
    one, two = chain(FIRST, SECOND)
    found = SealCheck(one.digest)
    assert found.take(one, FIRST) == []
    assert found.take(two, SECOND) == []
    assert (found.sealed, found.erased, found.number) == (3, 0, 2)
    assert (found.head, found.asked_in) == (two.digest, one.id)


def test_a_seal_covers_the_seals_before_it() -> None:
    one, two = chain(FIRST, SECOND)
    # The same number and content, after another first seal.
    other, _ = chain(FIRST, SECOND)
    found = SealCheck()
    assert found.take(other, FIRST) == []
    assert [one.problem for one in found.take(two, SECOND)] == ["broken"]
    assert one.leaves != other.leaves, "salted"


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s._replace(leaves=s.leaves[::-1]),
        lambda s: s._replace(leaves=[*s.leaves, s.leaves[0]]),
        lambda s: s._replace(sealed_until=MAY + timedelta(microseconds=1)),
        lambda s: s._replace(id=seals.seal_id(2)),
        lambda s: s._replace(id="x"),
    ],
)
def test_a_changed_seal_is_found(change: Any) -> None:
    [one] = chain(FIRST)
    assert "broken" in [found.problem for found in SealCheck().take(change(one), FIRST)]


def test_an_erased_entry_is_counted_and_a_deleted_one_found() -> None:
    [one] = chain(FIRST)
    erased = one._replace(ids=["", "b"], salts=["", one.salts[1]])
    found = SealCheck()
    assert found.take(erased, {"b": FIRST["b"]}) == []
    assert (found.sealed, found.erased) == (1, 1)
    assert [one.problem for one in SealCheck().take(one, {"b": FIRST["b"]})] == ["missing"]
    # An id without its salt, or the reverse, is not what an erasure leaves.
    for half in (one._replace(salts=["", one.salts[1]]), one._replace(ids=["", "b"])):
        assert SealCheck().take(half, {"b": FIRST["b"]})
