"""Graduation: important episodes get a line each in a file that the user owns, and an event."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from graphmem import Handle, UpkeepPolicy
from graphmem.errors import DigestFileError, GraphUnavailableError, InvalidInputError, NotFoundError
from graphmem.rules import identity
from graphmem.testing import FrozenClock
from graphmem.upkeep import GraduationReport
from graphmem.upkeep.rules import BEGIN, END, HEADING
from tests.plugins.clients import Door, on_tenant
from tests.plugins.faults import Retrying, Through, Unacknowledged, Work
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.texts import unlike

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
OLD, NEW = NOW - timedelta(days=15), NOW - timedelta(days=13)


@pytest.fixture
def then(door: Door, memory: Handle) -> Handle:
    """A memory whose clock stands."""
    return door.on(memory, clock=FrozenClock(NOW))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "MEMORY.md"


def important(memory: Handle, episode_id: str, **more: Any) -> str:
    given = {"importance": 0.8, "summary": f"about {episode_id}", "at": OLD, **more}
    return memory.episodes.add(episode_id=episode_id, **given)


def ids(done: GraduationReport) -> list[str]:
    return [one.episode_id for one in done.episodes]


def marked(look: Look, tenant: str) -> dict[str, dict[str, Any]]:
    """The GRADUATE events of a tenant."""
    return {k: e for k, e in look.events(tenant).items() if e["type"] == "GRADUATE"}


def test_important_and_old_or_looked_at_episodes_graduate(then: Handle, file: Path) -> None:
    important(then, "old", importance=0.7)
    important(then, "new", at=NEW)
    important(then, "plain", importance=0.69)
    important(then, "on the day", at=NOW - timedelta(days=14), importance=0.71)
    for episode_id, looks in (("looked at", 3), ("looked at twice", 2)):
        important(then, episode_id, at=NEW, importance=1.0)
        for _ in range(looks):
            then.expand(episode_id)
    then.usage.flush()
    done = then.episodes.graduate(file)
    assert (done.applied, done.file, done.more) == (True, "MEMORY.md", False)
    assert ids(done) == ["looked at", "on the day", "old"]
    assert all(one.added for one in done.episodes)
    assert file.read_text() == (
        f"{HEADING}\n\n{BEGIN}\n"
        "- 2026-02-16: about looked at `looked at`\n"
        "- 2026-02-15: about on the day `on the day`\n"
        "- 2026-02-14: about old `old`\n"
        f"{END}\n"
    )
    again = then.episodes.graduate(file)
    assert (again.applied, again.episodes) == (False, ())


def test_ten_in_a_cycle_the_most_important_then_the_oldest_first(then: Handle, file: Path) -> None:
    for n in range(12):
        important(then, f"e{n:02}", importance=0.9 if n == 7 else 0.8, at=OLD - timedelta(n // 6))
    first = then.episodes.graduate(file)
    assert ids(first) == ["e07", *(f"e{n:02}" for n in (6, 8, 9, 10, 11, 0, 1, 2, 3))]
    assert first.more
    second = then.episodes.graduate(str(file))
    assert ids(second) == ["e04", "e05"]
    assert not second.more
    lines = file.read_text().splitlines()
    assert [line.split("`")[1] for line in lines if line.startswith("- ")] == ids(first) + ids(
        second
    )


def test_what_a_line_says(then: Handle, file: Path) -> None:
    important(then, "a", importance=0.9, summary="Moved\n- to *Porto*", content="long")
    important(then, "b", importance=0.88, summary=" ", content="Hi! I moved to Porto in May. Yes.")
    important(then, "c", importance=0.86, summary=None, session_id="talk")
    said = [("assistant", "I know that you moved to Porto."), ("user", "Hi!")]
    said += [("user", "Why?")] * 120 + [("user", "I moved to Porto in June.")]
    turns = [{"role": role, "content": text, "name": "Ann", "at": OLD} for role, text in said]
    important(then, identity.episode_id("global", "s"), importance=0.84, summary=None)
    then.session("s").add_messages(turns)
    important(then, identity.episode_id("global", "t"), importance=0.82, summary=None)
    then.session("t").add_messages([{"role": "user", "content": "Why?", "at": OLD}])
    important(then, "d", importance=0.8, summary=None)
    done = then.episodes.graduate(file)
    assert [one.line.split(": ", 1)[1].rsplit(" `", 1)[0] for one in done.episodes] == [
        "Moved - to \\*Porto\\*",
        "I moved to Porto in May.",
        "talk",
        "Ann: I moved to Porto in June.",
        "Why?",
        "an episode without words",
    ]


def test_a_line_has_its_event(then: Handle, look: Look, tenant: str, file: Path) -> None:
    important(then, "e")
    [one] = then.episodes.graduate(file).episodes
    [(event_id, event)] = marked(look, tenant).items()
    assert event_id == "graduate_" + identity.digest("e", "MEMORY.md")[:32]
    assert event["edges"] == [["CONCERNS", "Episode", "e"]]
    assert (event["source"], event["artifact_ref"]) == ("consolidation", "MEMORY.md")
    assert json.loads(event["payload"]) == {
        "reason": "importance 0.80, 0 accesses, 15 days old",
        "file": "MEMORY.md",
        "line_sha256": identity.digest(one.line),
    }
    [told] = then.history("e")
    assert (told.type, told.payload["reason"]) == (
        "GRADUATE",
        "importance 0.80, 0 accesses, 15 days old",
    )
    other = then.episodes.graduate(file.with_name("OTHER.md"))
    assert ids(other) == ["e"]
    assert len(marked(look, tenant)) == 2


def test_the_history_of_an_episode_is_read_within_its_tenant_and_scopes(
    door: Door, then: Handle, tenant: str, file: Path
) -> None:
    important(then, "e")
    then.episodes.graduate(file)
    then.episodes.pin("e")
    assert [event.type for event in then.history("e")] == ["GRADUATE", "PIN"]
    assert [event.type for event in then.history("e", limit=1)] == ["PIN"]
    assert then.history("e", as_of=NOW - timedelta(days=1)) == []
    with door.open() as client:
        alone = client.tenant(tenant).scope("user:ann", read_scopes=["user:ann"])
        for other in (on_tenant(then, fresh_tenant()), alone):
            with pytest.raises(NotFoundError, match="No belief, memory or episode 'e'"):
                other.history("e")


def test_what_the_user_did_to_his_file_stays(then: Handle, file: Path) -> None:
    file.write_bytes(b"# Mine\r\n\r\nNotes\r\n")
    important(then, "one")
    important(then, "two")
    then.episodes.graduate(file)
    text = file.read_bytes()
    assert text.startswith(b"# Mine\r\n\r\nNotes\r\n")
    kept = text.replace(b"- 2026-02-14: about one `one`\r\n", b"").replace(b"about two", b"TWO")
    file.write_bytes(kept + b"below")
    important(then, "three")
    assert ids(then.episodes.graduate(file)) == ["three"]
    assert (
        file.read_bytes()
        == kept.replace(END.encode(), b"- 2026-02-14: about three `three`\r\n" + END.encode())
        + b"below"
    )
    file.unlink()
    assert then.episodes.graduate(file).episodes == ()
    assert not file.exists()


def test_a_dry_run_writes_nothing_and_says_what_the_run_then_does(
    then: Handle, look: Look, tenant: str, file: Path
) -> None:
    important(then, "one")
    important(then, "two")
    file.write_text(f"{BEGIN}\n- mine `one`\n{END}\n")
    before = look.graph(tenant), file.read_bytes()
    told = then.episodes.graduate(file, dry_run=True)
    assert (look.graph(tenant), file.read_bytes()) == before
    assert not told.applied
    assert [one.added for one in told.episodes] == [False, True]
    done = then.episodes.graduate(file)
    assert done.applied
    assert done.episodes == told.episodes
    assert len(marked(look, tenant)) == 2
    assert file.read_text().count("`one`") == 1


class Dead(Through):
    """Dies before anything is written."""

    async def write(self, work: Work[Any]) -> Any:  # noqa: ARG002
        raise GraphUnavailableError


def test_killed_between_file_and_event(
    door: Door, then: Handle, look: Look, tenant: str, file: Path
) -> None:
    important(then, "one")
    important(then, "two")
    graph = then._state.context.services.graph
    with pytest.raises(GraphUnavailableError):
        door.on(then, graph=Dead(graph)).episodes.graduate(file)
    written = file.read_bytes()
    assert b"`one`" in written
    assert marked(look, tenant) == {}
    done = then.episodes.graduate(file)
    assert [(one.episode_id, one.added) for one in done.episodes] == [
        ("one", False),
        ("two", False),
    ]
    assert file.read_bytes() == written
    assert len(marked(look, tenant)) == 2


def test_an_unacknowledged_and_a_repeated_transaction_write_once(
    door: Door, then: Handle, look: Look, tenant: str, file: Path
) -> None:
    important(then, "one")
    graph = then._state.context.services.graph
    with pytest.raises(GraphUnavailableError):
        door.on(then, graph=Unacknowledged(graph, 1)).episodes.graduate(file)
    assert then.episodes.graduate(file).episodes == ()
    important(then, "two")
    assert ids(door.on(then, graph=Retrying(graph)).episodes.graduate(file)) == ["two"]
    assert len(marked(look, tenant)) == 2


@pytest.mark.usefixtures("both_clients")
def test_many_at_once_write_each_line_and_event_once(
    door: Door, then: Handle, look: Look, tenant: str, file: Path
) -> None:
    for n in range(10):
        important(then, f"e{n}")
    done = door.together(then, [lambda m: m.episodes.graduate(file)] * 4)
    assert not [one for one in done if isinstance(one, Exception)]
    assert sum(g.added for one in done for g in one.episodes) == 10
    lines = [line for line in file.read_text().splitlines() if line.startswith("- ")]
    assert sorted(line.split("`")[1] for line in lines) == [f"e{n}" for n in range(10)]
    assert len(marked(look, tenant)) == 10


def test_broken_markers_write_nothing(then: Handle, look: Look, tenant: str, file: Path) -> None:
    file.write_text(f"a\n{BEGIN}\n")
    important(then, "one")
    for dry_run in (True, False):
        with pytest.raises(DigestFileError, match="line 2: the digest begins and never ends"):
            then.episodes.graduate(file, dry_run=dry_run)
    assert file.read_text() == f"a\n{BEGIN}\n"
    assert marked(look, tenant) == {}


def test_only_the_own_scope_graduates_and_what_it_sees_counts(then: Handle, file: Path) -> None:
    important(then, "shared", at=NEW)
    important(then.scope("alice"), "hers", summary=unlike(1))
    for name in ("alice", "bob"):
        then.scope(name).expand("shared")
        then.scope(name).usage.flush()
    then.expand("shared")
    then.usage.flush()
    assert ids(then.episodes.graduate(file)) == []
    assert ids(
        then.scope("global", read_scopes=["global", "alice", "bob"]).episodes.graduate(file)
    ) == ["shared"]
    assert unlike(1) not in file.read_text()
    assert ids(then.scope("alice").episodes.graduate(file)) == ["hers"]


def test_other_numbers(then: Handle, file: Path) -> None:
    for n in range(3):
        important(then, f"e{n}", importance=0.2 + n / 10, at=NEW)
    policy = UpkeepPolicy(importance=0.25, graduate_days=13, max_episodes=1)
    assert ids(then.episodes.graduate(file, policy=policy)) == ["e2"]
    policy = UpkeepPolicy(importance=0.25, accesses=1)
    assert ids(then.episodes.graduate(file, policy=policy)) == []
    then.expand("e1")
    then.usage.flush()
    assert ids(then.episodes.graduate(file, policy=policy)) == ["e1"]


@pytest.mark.parametrize(
    "file", [5, None, b"MEMORY.md", "", "a\0b", "x" * 201, "a\udcff.md", "x/" * 5_000]
)
def test_a_file_must_have_a_name(plain: Handle, file: Any) -> None:
    with pytest.raises(InvalidInputError):
        plain.episodes.graduate(file)


@pytest.mark.parametrize("file", [".", "/", "no such folder/MEMORY.md"])
def test_a_file_must_be_one(plain: Handle, file: str) -> None:
    with pytest.raises(DigestFileError):
        plain.episodes.graduate(file)


@pytest.mark.parametrize(
    "wrong",
    [
        {"importance": 1.1},
        {"importance": float("nan")},
        {"accesses": 0},
        {"max_episodes": 0},
        {"graduate_days": -1},
        {"compress_days": float("inf")},
        {"other": 1},
    ],
)
def test_a_policy_must_fit(plain: Handle, file: Path, wrong: Any) -> None:
    with pytest.raises(InvalidInputError):
        plain.episodes.graduate(file, policy=wrong)
    with pytest.raises(InvalidInputError):
        plain.episodes.compress(policy=wrong)


def test_a_path_of_any_kind(then: Handle, file: Path) -> None:
    important(then, "one")
    given: os.PathLike[str] = file
    assert ids(then.episodes.graduate(given)) == ["one"]
