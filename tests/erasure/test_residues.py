"""After an erasure the nodes are named that still hold the same words, however many there are."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from graphmem import Handle
from graphmem.erasure import targets
from graphmem.model import Origin
from tests.client.test_forgetting import holding
from tests.plugins.graph import Look
from tests.plugins.texts import unlike

WORDED = ["Memory", "Belief", "Turn", "Episode", "Archive", "Event", "Reply", "Item"]
WORDS = "Xanthippe opens the payments service every Friday at noon"


def said_and_forgotten(memory: Handle, every: int, turns: int) -> tuple[Any, ...]:
    """Say words, remember and forget them; return what still holds them."""
    known = str(memory.remember(WORDS).memory_id)
    said = [WORDS if n % every == 0 else unlike(n) for n in range(turns)]
    memory.session("s").add_messages([{"role": "user", "content": one} for one in said])
    return memory.forget("memory", known, dry_run=False).elsewhere


@pytest.mark.parametrize("page", [1, 2, 7, 8])
def test_every_page_of_every_kind_is_looked_at(
    plain: Handle, look: Look, tenant: str, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    monkeypatch.setattr(targets, "PAGE", page)
    monkeypatch.setattr(targets, "MENTION_PAGE", page)
    plain.observe("the porter", "says", WORDS)
    plain.memories.deprecate(str(plain.remember(unlike(9)).memory_id), reason=WORDS)
    found = said_and_forgotten(plain, every=3, turns=7)
    query = (
        "MATCH (n:$any($labels)) WHERE n.tenant = $tenant "
        "AND any(k IN keys(n) WHERE n[k] IS :: STRING AND n[k] CONTAINS $words) "
        "RETURN labels(n)[0] AS label, n.id AS id"
    )
    holding = look.rows(query, tenant=tenant, labels=WORDED, words=WORDS)
    assert {(x.label, x.id) for x in found} == {(row["label"], row["id"]) for row in holding}
    assert {one.label for one in found} == {"Turn", "Event", "Belief"}


def test_of_many_the_first_are_named(plain: Handle) -> None:
    found = said_and_forgotten(plain, every=1, turns=targets.SHOWN + 5)
    assert len(found) == targets.SHOWN


LONG_AGO = datetime(2025, 1, 1, tzinfo=UTC)
NOTE = "it was leukaemia, says Dr Meyer"
REPLACING: dict[str, Callable[[Handle, str, str], object]] = {
    "revise": lambda m, old, _: m.beliefs.revise(old, statement="Ann is well", reason=NOTE),
    "split": lambda m, old, _: m.beliefs.split(
        old, statements=["Ann is well", "Ann is at home"], reason=NOTE
    ),
    "merge": lambda m, old, other: m.beliefs.merge(
        beliefs=[old, other], statement="Ann is well", reason=NOTE
    ),
}


@pytest.mark.parametrize("verb", REPLACING)
def test_a_note_goes_from_the_successors_too(
    plain: Handle, look: Look, tenant: str, verb: str
) -> None:
    known = plain.believe("Ann is ill").belief_id
    other = plain.believe("Ann is at work").belief_id
    REPLACING[verb](plain, known, other)
    head = plain.admin.seal().head
    assert holding(look, tenant, NOTE) == ["Event.payload"]

    assert plain.forget("belief", known, dry_run=False).clean

    assert holding(look, tenant, NOTE) == []
    assert plain.admin.verify(head=head).wrong == ()
    assert [one.statement for one in plain.beliefs.list().beliefs if one.status == "current"]


@pytest.mark.parametrize("verb", REPLACING)
def test_a_note_that_goes_is_no_text_that_stays(plain: Handle, verb: str) -> None:
    """Texts are compared before the notes go, while late writers end."""
    known = plain.believe(NOTE).belief_id
    other = plain.believe("Ann is at work").belief_id
    REPLACING[verb](plain, known, other)

    done = plain.forget("belief", known, dry_run=False)

    assert done.clean
    assert (done.mentions, done.elsewhere) == (0, ())


def test_a_note_of_a_replacement_of_something_else_stays(
    plain: Handle, look: Look, tenant: str
) -> None:
    known = plain.believe("Ann is ill").belief_id
    other = plain.believe("Ann is at work").belief_id
    new = plain.beliefs.revise(other, statement="Ann is at home", origin=Origin(note="a call"))
    assert plain.forget("belief", known, dry_run=False).clean
    assert holding(look, tenant, "a call") == ["Event.payload"]
    assert plain.beliefs.get(new.newer_ids[0]).status == "current"


@pytest.mark.parametrize("what", ["episode", "scope", "person"])
def test_digests_that_were_not_given_are_named(plain: Handle, tmp_path: Path, what: str) -> None:
    memory = plain.scope("user:ann")
    file = tmp_path / "MEMORY.md"
    text = f"{WORDS}, and more of the kind"
    known = memory.episodes.add(episode_id="e", content=text, importance=0.9, at=LONG_AGO)
    memory.episodes.graduate(file)
    assert "Xanthippe" in file.read_text("utf-8")
    assert file.stat().st_mode & 0o777 == 0o600

    def erase(**more: Any) -> Any:
        if what == "person":
            return plain.admin.erase_person("Xanthippe", include_mentions=True, **more)
        return memory.forget(what, known if what == "episode" else "user:ann", **more)

    assert erase(digests=[file]).digest_files == ()
    assert erase().digest_files == ("MEMORY.md",)
    done = erase(dry_run=False)
    assert done.digest_files == ("MEMORY.md",)
    [place] = [one.place for one in done.certificate.residues if "MEMORY.md" in one.place]
    assert place in done.certificate.to_text()


def test_a_person_leaves_the_digests_that_are_given(plain: Handle, tmp_path: Path) -> None:
    file = tmp_path / "MEMORY.md"
    plain.episodes.add(content=f"{WORDS}, and more", importance=0.9, at=LONG_AGO)
    plain.episodes.add(content="The shed has a new roof since May.", importance=0.9, at=LONG_AGO)
    plain.episodes.graduate(file)
    done = plain.admin.erase_person(
        "Xanthippe", include_mentions=True, digests=[str(file)], dry_run=False
    )
    assert (done.clean, done.digest_lines, done.digest_files) == (True, 1, ())
    assert done.certificate is not None
    assert done.certificate.digest_lines == 1
    assert not any("MEMORY.md" in one.place for one in done.certificate.residues)
    left = file.read_text("utf-8")
    assert "Xanthippe" not in left
    assert "shed" in left
