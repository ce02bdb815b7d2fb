"""Trust classes of events and turns, and the words for them."""

from __future__ import annotations

import itertools
from typing import Any, get_args

import pytest

from graphmem.conversation import wording
from graphmem.errors import PersonOnlyError
from graphmem.model import EvidenceKind, Reason, Trust
from graphmem.rules import trust
from tests.oracles import trust as oracle
from tests.plugins.bites import MAY

WRITERS = get_args(Trust)
SOURCE_TYPES = (None, "EXPLICIT", "TOOL", "RULE", "CLASSIFIER", "EXTRACTOR", "SENSOR")


def test_classes_are_ordered_from_unknown_to_a_person() -> None:
    assert trust.CLASSES == oracle.ORDER
    assert [trust.parse(trust.rank(one)) for one in trust.CLASSES] == list(trust.CLASSES)
    assert (trust.parse(None), trust.recorded(None), trust.recorded(0)) == (
        *("unknown", None),
        "unknown",
    )


@pytest.mark.parametrize(
    ("writer", "source_type"), list(itertools.product(WRITERS, SOURCE_TYPES)), ids=str
)
def test_no_source_type_raises_the_class_of_its_writer(
    writer: Trust, source_type: str | None
) -> None:
    found = trust.event_ranks(writer).get(source_type or trust.STATED, 0)
    assert trust.parse(found) == oracle.event(writer, source_type)
    assert found <= trust.rank(writer)


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        ("user", "person"),
        ("Human", "person"),
        ("tool", "tool"),
        ("function", "tool"),
        ("assistant", "model"),
        ("AI", "model"),
        ("system", "unknown"),
        ("person", "unknown"),
        ("user ", "unknown"),
    ],
)
def test_the_role_of_a_message_gives_its_class_up_to_its_writers(role: str, expected: str) -> None:
    assert trust.parse(trust.turn_rank(role)) == expected
    for writer in WRITERS:
        assert trust.parse(trust.turn_rank(role, writer)) == oracle.least([writer, expected])


@pytest.mark.parametrize(
    ("given", "who", "expected"),
    [
        ("person", "", []),
        ("person", "Zoë", ["Zoë"]),
        ("model", "", ["model"]),
        ("model", "Zoë", ["Zoë via model"]),
        ("model", '"model"', ['"model" via model']),
        ("model", "inferred", ["inferred"]),
        ("model", "AI", ["AI"]),
        ("model", "tool", ["tool via model"]),
        ("tool", "rule", ["rule"]),
        ("tool", "tool", ["tool"]),
        ("imported", "imported", ["imported"]),
        ("imported", "Zoë", ["Zoë via import"]),
        ("unknown", "imported", ["imported of unknown origin"]),
        ("unknown", "", ["unknown origin"]),
    ],
)
def test_a_prompt_names_the_class_unless_it_is_a_persons_or_said_already(
    given: Trust, who: str, expected: list[str]
) -> None:
    assert wording.Origin(MAY, who).words(given) == expected
    assert wording.Origin(MAY, who, "twice").words(given) == ["twice", *expected]


def test_what_the_user_said_and_a_lower_class_wrote_down_is_told_apart() -> None:
    assert wording.Origin(MAY, quoted=True).words("model") == ["via model"]
    assert wording.Origin(MAY, quoted=True).words("person") == []


@pytest.mark.parametrize("given", ["tool", "model", "imported", "unknown"])
def test_what_a_lower_class_repeats_is_said_besides(given: Trust) -> None:
    by: dict[str, Any] = {"event_id": "e", "type": "ADD", "at": "2025-05-05T00:00Z"}
    reasons = [Reason(**by, trust=given), Reason(**by, trust="person")]
    origin, [alone] = wording.Origin(MAY, "Dana"), wording.Origin(MAY).words(given)
    assert origin.words(given, reasons) == ["Dana", f"also {alone}"]
    assert wording.Origin(MAY).words(given, reasons) == [f"also {alone}"]
    # A person who refutes it vouches for nothing.
    against = Reason(**by, trust="person", kind=EvidenceKind.REFUTING)
    assert wording.Origin(MAY).words(given, [reasons[0], against]) == [alone]


@pytest.mark.parametrize("verb", list(trust.LEAST))
@pytest.mark.parametrize("writer", WRITERS)
def test_a_verb_of_persons_is_refused_to_every_other_class(verb: trust.Verb, writer: Trust) -> None:
    assert trust.may(verb, writer) is (writer == "person")
    if writer == "person":
        trust.check_right(verb, writer)
        return
    with pytest.raises(PersonOnlyError, match="must be a person's"):
        trust.check_right(verb, writer)
