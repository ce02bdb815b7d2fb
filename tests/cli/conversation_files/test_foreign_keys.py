"""Messages of other programs: times under other keys and in other forms, keys that are not read."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from graphmem.cli.conversation_files import read_conversations
from graphmem.model import Message
from tests.cli.conversation_files.conftest import WriteFile

SAID = datetime(2024, 3, 5, 9, 0, tzinfo=timezone(timedelta(hours=5, minutes=45)))
KEYS = [
    *("at", "timestamp", "created_at", "createdAt", "date", "time", "ts", "create_time", "sent_at"),
    *("createdDateTime", "timestamp_ms", "date_unixtime", "Sent-At", "creation_time", "posted_at"),
    *("epoch", "message_time", "DateTime", "published_at", "created on"),
]
SECONDS = SAID.timestamp()
FORMS: list[Any] = [
    *(SAID.isoformat(), SAID.isoformat(" "), SAID.astimezone(UTC).isoformat()[:-6] + "Z"),
    *(int(SECONDS), SECONDS, int(SECONDS * 1e3), int(SECONDS * 1e6), int(SECONDS) * 10**9),
    *(str(int(SECONDS)), f"{SECONDS:.6f}", str(int(SECONDS * 1e3)), format_datetime(SAID)),
    *({"$date": SAID.isoformat()}, {"_seconds": int(SECONDS), "_nanoseconds": 0}),
    *("2024-03-05T04:15:00+01:00[Europe/Berlin]", "2024/03/05 03:15:00 UTC"),
    *("2024-03-05T04:15:00[Europe/Berlin]", "Tue Mar 05 03:15:00 +0000 2024"),
]


def line(**fields: Any) -> dict[str, Any]:
    return {"role": "user", "content": "I moved to Porto last week.", **fields}


@pytest.mark.parametrize("key", KEYS)
def test_a_time_is_read_under_any_common_key_in_any_common_form(
    write_file: WriteFile, key: str
) -> None:
    file = read_conversations(
        write_file(*(line(id=f"{n}", **{key: form}) for n, form in enumerate(FORMS)))
    )
    assert (file.problems, file.unread) == ((), {})
    [conversation] = file.conversations
    assert [message.at for message in conversation.messages] == [SAID] * len(FORMS)


def test_every_common_key_is_preferred_to_none_and_one_is_read(write_file: WriteFile) -> None:
    both = line(at=SAID.isoformat(), date="2020-01-01", timestamp="2021-01-01T00:00:00Z")
    file = read_conversations(write_file(both))
    assert file.conversations[0].messages[0].at == SAID
    assert file.unread == {"date": 1, "timestamp": 1}


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "-03:30"])
def test_a_time_without_a_zone_is_of_the_given_one(write_file: WriteFile, zone: str) -> None:
    path = write_file(line(id="a", date="2026-07-01 08:00"), line(id="b", ts="2026-01-01"))
    [conversation] = read_conversations(path, time_zone=zone).conversations
    summer, winter = conversation.messages
    assert summer.time_zone == winter.time_zone == zone
    place = timezone(-timedelta(hours=3, minutes=30)) if zone[0] == "-" else ZoneInfo(zone)
    assert summer.at == datetime(2026, 7, 1, 8, tzinfo=place)
    assert winter.at == datetime(2026, 1, 1, tzinfo=place)


@pytest.mark.parametrize("key", ["timestamp", "created_at", "ts"])
@pytest.mark.parametrize("wrong", [5, "soon", "05/06/2026", -1, [], [5], {"x": 1}, 1e300])
def test_a_time_that_cannot_be_read_is_named_and_its_message_left_out(
    write_file: WriteFile, key: str, wrong: object
) -> None:
    file = read_conversations(write_file(line(id="a"), line(id="b", **{key: wrong})))
    [problem] = file.problems
    assert problem.text.startswith(f"line 2: {key} ")
    assert len(problem.text) < 200


@pytest.mark.parametrize("seed", range(20))
def test_keys_that_are_not_read_are_counted(write_file: WriteFile, seed: int) -> None:
    """Count each key with a value, and no other one, for any keys and values."""
    rng = random.Random(seed)
    names = [
        "mood",
        "edited",
        "updated_at",
        "replyTo",
        "reactions",
        "lang",
        "metadata",
        "🙂",
        "x" * 99,
    ]
    lines, counts = [], dict[str, int]()
    for n in range(30):
        fields: dict[str, Any] = {}
        for name in rng.sample(names, rng.randrange(5)):
            fields[name] = rng.choice([None, "", [], {}, 0, 1, "x", [1], {"a": 1}, False])
            if fields[name] not in (None, "", [], {}):
                counts[name[:80]] = counts.get(name[:80], 0) + 1
        lines.append(line(id=f"{n}", ts=1_700_000_000 + n, **fields))
    file = read_conversations(write_file(*lines))
    assert file.unread == counts
    assert set(file.notes) == {f"not read: {n} {name}" for name, n in counts.items()}


def test_many_keys_make_few_notes(write_file: WriteFile) -> None:
    file = read_conversations(write_file(line(**{f"k{n:03}": n for n in range(1, 100)})))
    assert len(file.unread) == 99
    assert len(file.notes) == 21
    assert file.notes[-1] == "not read: 79 more keys"


def named(messages: tuple[Message, ...]) -> list[str | None]:
    return [message.name for message in messages]


@pytest.mark.parametrize("key", ["user_id", "senderId", "author_id", "from_id", "speaker-id"])
def test_people_of_one_name_stay_apart(write_file: WriteFile, key: str) -> None:
    talk = [("Alex", "u1"), ("alex", "u2"), ("Alex", "u1"), ("Bo", "u3"), ("ALEX", 4), (None, "u5")]
    talk += [(None, "u6"), (None, "u5"), ("Alex", None)]
    path = write_file(
        *(line(id=f"{n}", name=name, **{key: sender}) for n, (name, sender) in enumerate(talk))
    )
    file = read_conversations(path)
    assert named(file.conversations[0].messages) == [
        *("Alex", "alex (u2)", "Alex", "Bo", "ALEX (4)", None, "u6", None, "Alex")
    ]
    assert "another sender of the name 'alex': 'alex (u2)'" in file.notes
    assert file.unread == {}
    # The names stay when the file has grown.
    grown = write_file(
        *(line(id=f"{n}", name=name, **{key: sender}) for n, (name, sender) in enumerate(talk)),
        line(id="x", name="Alex", **{key: "u7"}),
    )
    assert named(read_conversations(grown).conversations[0].messages)[:-1] == named(
        file.conversations[0].messages
    )


def test_an_assistant_is_not_named_after_the_id_of_its_user(write_file: WriteFile) -> None:
    answer = {"role": "assistant", "content": "Fine.", "user_id": "u2", "id": "b"}
    file = read_conversations(write_file(line(id="a", user_id="u1"), answer))
    assert named(file.conversations[0].messages) == [None, None]
    assert file.unread == {"user_id": 1}


def test_a_document_names_its_other_keys(write_file: WriteFile) -> None:
    file = read_conversations(write_file({"title": "Trip", "tags": [], "messages": [line()]}))
    assert file.unread == {"title": 1}
