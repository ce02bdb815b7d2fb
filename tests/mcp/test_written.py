"""Arguments as clients and models write them, generated for every tool."""

from __future__ import annotations

import difflib
import json
from calendar import monthrange
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.english import quantities
from graphmem.errors import InvalidInputError
from graphmem.mcp import schemas, written
from graphmem.mcp.tools import TOOLS
from graphmem.model import AsOf, Triple, zones
from graphmem.model.memory import RefusedClaim
from tests.mcp.test_arguments import LIVES, problem, read

JUNE = datetime(2025, 6, 1, tzinfo=UTC)
LAST = timedelta(microseconds=1)
MONTHS = [month.capitalize() for month in quantities.MONTHS]
SCHEMAS = {name: schemas.complete_schema(tool.arguments) for name, tool in TOOLS.items()}
EXAMPLES: dict[str, dict[str, Any]] = {
    **{name: dict(tool.example) for name, tool in TOOLS.items()},
    "remember": {"content": "Tea.", "claims": [LIVES | {"object": "Porto"}], "tags": ["a", "b"]},
    "current": LIVES | {"as_of": {"valid": "2025-02-01", "known": "2025-06-01"}},
}
names = st.sampled_from(sorted(TOOLS))


def properties(name: str) -> dict[str, Any]:
    """Return the schemas of a tool's arguments."""
    found: dict[str, Any] = SCHEMAS[name]["properties"]
    return found


def is_text(place: dict[str, Any]) -> bool:
    """Return whether an argument takes any text."""
    return place["type"] == "string" and not {"format", "enum"} & place.keys()


@given(name=names, draw=st.data())
def test_null_and_blank_are_an_omitted_argument(name: str, draw: st.DataObject) -> None:
    required = SCHEMAS[name].get("required", [])
    example = {key: value for key, value in EXAMPLES[name].items() if key in required}
    empty: dict[str, Any] = {}
    for key, place in properties(name).items():
        if key not in required and draw.draw(st.booleans()):
            nothing = [None, "", " \n"] + ([] if is_text(place) else ["null"])
            empty[key] = draw.draw(st.sampled_from(nothing))
    assert TOOLS[name].read(example | empty) == TOOLS[name].read(example)


@pytest.mark.parametrize("nothing", [None, "", " "])
def test_null_and_blank_are_omitted_in_parts_too(nothing: object) -> None:
    message = {"role": "user", "content": "Tea."}
    more = {"name": nothing, "at": nothing, "id": nothing}
    assert read("add_messages", messages=[message | more]) == read("add_messages", messages=message)
    times = {"valid": "2025-06-01T10:00", "known": nothing}
    assert read("current", **LIVES, as_of=times).as_of.known is None
    assert read("recall", query="tea", tags=["a", nothing]).tags == ("a",)


@pytest.mark.parametrize("name", TOOLS)
def test_a_required_argument_is_not_omitted(name: str) -> None:
    for key in SCHEMAS[name].get("required", []):
        assert key in problem(name, **EXAMPLES[name] | {key: None}).message


def in_json(value: Any, *, parts: bool) -> Any:
    """Return lists and objects as JSON text; with `parts` also those within."""
    if not isinstance(value, list | dict):
        return value
    if parts and isinstance(value, list):
        value = [in_json(one, parts=True) for one in value]
    return json.dumps(value)


@given(name=names, parts=st.booleans())
def test_lists_and_objects_may_be_json_text(name: str, *, parts: bool) -> None:
    example = EXAMPLES[name]
    text = {key: in_json(value, parts=parts) for key, value in example.items()}
    assert TOOLS[name].read(text) == TOOLS[name].read(example)


@pytest.mark.parametrize("unclear", ["a, b", "[a, b]", "['a', 'b']", '["a", ', "[a]"])
def test_a_text_that_may_be_a_list_or_one_item_is_refused(unclear: str) -> None:
    assert "tags: must be a list" in problem("recall", query="tea", tags=unclear).message
    assert read("recall", query="tea", tags=[unclear]).tags == (unclear,)


@given(name=names, more=st.dictionaries(st.text(min_size=1, max_size=30), st.none() | st.text()))
def test_other_arguments_are_ignored_and_named(name: str, more: dict[str, Any]) -> None:
    more |= {"_meta": {}, "explanation": "x", "toolCallId": "c", "random_string": "r"}
    plain = TOOLS[name].read(EXAMPLES[name])[0]
    similar = {key for key in more if near_names(name, key) or key in written._SET_BY_SERVER}
    given_ = {key: value for key, value in more.items() if key not in similar}
    found, ignored = TOOLS[name].read(given_ | EXAMPLES[name])
    assert (found, sorted(ignored)) == (plain, sorted(given_))


def near_names(name: str, key: str) -> list[str]:
    """Return the names of arguments for which another name may be a mistake."""
    return difflib.get_close_matches(written._bare(key), sorted(argument_names(name)), 1, 0.85)


def argument_names(name: str) -> set[str]:
    """Return the names that a tool's arguments have, without case and hyphens."""
    found = ((key, *place.get("also", ())) for key, place in properties(name).items())
    return {written._bare(one) for every in found for one in every}


@pytest.mark.parametrize(
    ("tool", "name", "meant"),
    [
        ("recall", "tag", "tags"),
        ("recall", "kind", "kinds"),
        ("remember", "contents", "content"),
        ("observe", "cardinalty", "cardinality"),
        ("forget", "confrm", "confirm"),
    ],
)
def test_a_misspelled_argument_is_refused(tool: str, name: str, meant: str) -> None:
    message = problem(
        tool, **{k: v for k, v in EXAMPLES[tool].items() if k != meant}, **{name: "x"}
    ).message
    assert f"{name}: is not an argument. Did you mean {meant}?" in message


def test_other_fields_of_parts_are_named_with_their_place() -> None:
    message = {"role": "user", "content": "Tea.", "refusal": None}
    assert TOOLS["add_messages"].read({"messages": [message]})[1] == ["messages.0.refusal"]


@pytest.mark.parametrize("name", TOOLS)
def test_a_name_may_be_in_another_case(name: str) -> None:
    example = EXAMPLES[name]
    first, *rest = next(iter(example), "x").split("_")
    camel = first + "".join(map(str.capitalize, rest))
    renamed = {camel if at == 0 else k: v for at, (k, v) in enumerate(example.items())}
    assert TOOLS[name].read(renamed) == TOOLS[name].read(example)


@pytest.mark.parametrize("name", TOOLS)
def test_what_the_server_sets_is_refused(name: str) -> None:
    for own in written._SET_BY_SERVER:
        assert f"{own}: is not an argument" in problem(name, **EXAMPLES[name], **{own: "x"}).message


def words(number: int) -> Iterator[str]:
    """Yield a number as people write it."""
    units = {value: word for word, value in quantities.ONES.items()}
    tens = {value: word for word, value in quantities.TENS.items()}
    yield str(number)
    yield f" {number} "
    yield f"{number}.0"
    if number < 20:
        yield units[number].upper()
    elif number < 100:
        rest = number % 10
        for gap in ("-", " "):
            yield tens[number - rest] + (gap + units[rest] if rest else "")


@given(number=st.integers(1, 100))
def test_a_number_may_be_a_text(number: int) -> None:
    for text in words(number):
        assert read("recall", query="tea", limit=text).limit == number
    assert read("context", about="tea", tokens="1,200").tokens == 1_200
    assert read("observe", **LIVES, object="Porto", confidence="80%").confidence == 0.8


@pytest.mark.parametrize(
    "unclear", ["a few", "about 5", "5-6", "five or six", "ten-five", "1,00", "5k"]
)
def test_an_unclear_number_is_refused(unclear: str) -> None:
    message = problem("recall", query="tea", limit=unclear).message
    assert message == "limit: must be a whole number from 1 to 100."


@given(value=st.integers() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_value_may_be_a_number(value: float) -> None:
    assert read("observe", **LIVES, object=value).object == json.dumps(value)


@given(day=st.dates(date(1000, 1, 1), date(2024, 12, 31)))
def test_a_date_means_its_whole_day_month_or_year(day: date) -> None:
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    name = MONTHS[day.month - 1]
    days = [
        *(f"{day}", f"{day:%Y/%m/%d}", f"{day.year}-{day.month}-{day.day}", f"{day:%Y%m%d}"),
        *(f"{day.day} {name} {day.year}", f"{name[:3]}. {day.day}, {day.year}"),
        *(f"{day.day}th of {name} {day.year}", f" {name.upper()} {day.day}  {day.year}"),
    ]
    months = [f"{day:%Y-%m}", f"{name} {day.year}", f"{name[:3].lower()} {day.year}"]
    month = start.replace(day=1)
    ends = (
        (days, start, start + timedelta(days=1)),
        (months, month, month + timedelta(days=monthrange(day.year, day.month)[1])),
        ([str(day.year)], month.replace(month=1), datetime(day.year + 1, 1, 1, tzinfo=UTC)),
    )
    for texts, first, after in ends:
        for text in texts:
            assert read("observe", **LIVES, object="Porto", at=text).at == first
            found = read("recall", query="tea", since=text, until=text, as_of=text)
            assert (found.since, found.until) == (first, after - LAST)
            assert found.as_of == AsOf(valid=after - LAST)
            both = {"valid": text, "known": text}
            assert read("why", item_id="b_1", as_of=both).as_of.known == after - LAST


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2025-06-01T10:00", JUNE + timedelta(hours=10)),
        ("2025-06-01 10:00:30", JUNE + timedelta(hours=10, seconds=30)),
        ("2025-06-01T10:00Z", JUNE + timedelta(hours=10)),
        ("2025-06-01T10:00+02:00", JUNE + timedelta(hours=8)),
    ],
)
def test_a_time_is_in_utc_unless_it_has_a_zone(text: str, at: datetime) -> None:
    assert read("current", **LIVES, as_of=text).as_of == AsOf(valid=at)
    assert read("observe", **LIVES, object="Porto", at=text).at == at
    assert read("recall", query="tea", since=text, until=text).until == at
    zone = timezone(timedelta(hours=2))
    assert read("why", item_id="b_1", as_of={"known": text}).as_of.known == at.astimezone(zone)


def test_today_ends_now() -> None:
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    for text, days in (("today", 0), ("Yesterday", 1)):
        at = read("observe", **LIVES, object="Porto", at=text).at
        assert at == midnight - timedelta(days=days)
    for text in ("today", "now", f"{midnight:%Y-%m-%d}", f"{midnight:%Y-%m}", f"{midnight:%Y}"):
        assert read("current", **LIVES, as_of=text).as_of is None
        assert read("recall", query="tea", until=text).until is None
    found = read("current", **LIVES, as_of="yesterday").as_of
    assert found == AsOf(valid=midnight - LAST)


UNCLEAR = [
    *("soon", "last week", "May", "5 May", "05/06/2025", "5.6.2025", "Monday", "two days ago"),
    *("before May 2025", "May 5 6 2025", "1 May 2 2025", "2025-13-01", "2025-02-30", "May 0 2025"),
    *("2025-06-01 or so", "Q2 2025", "0000", "20", "1700000000", 1_700_000_000, 2025, True),
]


@pytest.mark.parametrize("unclear", UNCLEAR)
def test_an_unclear_date_is_explained_by_examples(unclear: object) -> None:
    for tool, name, given_ in (
        ("current", "as_of", LIVES),
        ("observe", "at", LIVES | {"object": "Porto"}),
        ("recall", "until", {"query": "tea"}),
    ):
        error = problem(tool, **given_, **{name: unclear})
        assert error.message.startswith(name)
        assert '"2025-06-01" or "2025-06-01T10:00+02:00"' in error.message
        assert "UTC" in error.message


KINDS = {"memory": "m_0a1b", "belief": "b_0a1b", "turn": "t_0a1b", "episode": "ep_0a1b"}
IDS = {
    ("supersede", "item_id"): {"memory", "belief"},
    ("memory_history", "memory_id"): {"memory"},
    ("memory_deprecate", "memory_id"): {"memory"},
    ("add_evidence", "belief_id"): {"belief"},
    ("add_evidence", "turn_id"): {"turn"},
    ("observe", "turn_id"): {"turn"},
    ("evidence_for", "belief_id"): {"belief"},
    ("belief_revise", "belief_id"): {"belief"},
    ("belief_split", "belief_id"): {"belief"},
    ("belief_retract", "event_id"): set(),
    ("why", "item_id"): {"memory", "belief"},
    ("expand", "item_id"): set(KINDS),
    ("forget", "item_id"): set(KINDS),
}


def test_a_blank_list_is_omitted() -> None:
    assert read("recall", query="tea", kinds="") == read("recall", query="tea")


def test_every_id_has_its_kinds_here() -> None:
    assert IDS.keys() == {
        (tool, name)
        for tool in TOOLS
        for name in properties(tool)
        if name.endswith("_id") and name != "session_id"
    }


@pytest.mark.parametrize(("tool", "name"), IDS)
def test_an_id_of_another_kind_is_refused_with_its_kind(tool: str, name: str) -> None:
    for kind, item in KINDS.items():
        for spelled in (item, f"[{item}]", f" {item} "):
            given_ = EXAMPLES[tool] | {name: spelled}
            if kind in IDS[tool, name]:
                assert getattr(read(tool, **given_), name) == item
            else:
                message = problem(tool, **given_).message
                assert message.startswith(f"{name}: must be the id of a")
                assert kind in message.rpartition("this is")[2]


BAD_CLAIMS = st.sampled_from(
    [
        "a b c",
        5,
        {},
        {"subject": "a"},
        {"subject": "a", "predicate": "", "object": "c"},
        ["x"],
        True,
    ]
)
GOOD_CLAIMS = st.fixed_dictionaries(
    {
        "subject": st.just("alice"),
        "predicate": st.just("lives_in"),
        "object": st.sampled_from("xyz"),
    }
)


@given(claims=st.lists(BAD_CLAIMS | GOOD_CLAIMS, max_size=20), text=st.booleans())
def test_a_claim_never_refuses_its_sentence(claims: list[Any], *, text: bool) -> None:
    found = read("remember", content="Tea.", claims=json.dumps(claims) if text else claims).claims
    kinds = [isinstance(one, dict) and len(one) == 3 and bool(one["predicate"]) for one in claims]
    assert [isinstance(one, Triple) for one in found] == kinds
    assert all(one.reasons[0] for one in found if isinstance(one, RefusedClaim))


@given(claims=st.sampled_from(["[{", "a, b", 5, True, '{"subject": "a"}', [[[]]]]))
def test_claims_that_are_none_are_refused_alone(claims: object) -> None:
    [one] = read("remember", content="Tea.", claims=claims).claims
    assert isinstance(one, RefusedClaim)


@given(
    name=names,
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=10,
    ),
    draw=st.data(),
)
def test_any_value_is_read_or_refused(name: str, value: Any, draw: st.DataObject) -> None:
    key = draw.draw(st.sampled_from(sorted(properties(name)) or ["other"]))
    with suppress(InvalidInputError):
        TOOLS[name].read(EXAMPLES[name] | {key: value})


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "+05:45"])
def test_times_without_a_zone_are_of_the_server(zone: str) -> None:
    place = zones.zone(zone)
    arguments = {"since": "2025-06-01", "until": "May 2025", "query": "tea"}
    found = TOOLS["recall"].read(arguments, zone)[0]
    assert found.since == datetime(2025, 6, 1, tzinfo=place)
    assert found.until == datetime(2025, 6, 1, tzinfo=place) - timedelta(microseconds=1)
    messages = [
        {"role": "user", "content": "x", "at": at}
        for at in ("2025-06-01T10:00", "2025-06-01T10:00-03:30")
    ]
    own, other = TOOLS["add_messages"].read({"messages": messages}, zone)[0].messages
    assert own.at == datetime(2025, 6, 1, 10, tzinfo=place)
    assert [zones.stated(one.at) for one in (own, other)] == [zone, "-03:30"]
