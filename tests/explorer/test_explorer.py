"""Pages of the explorer: sessions, rights, what they show, and corrections that can be undone."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from starlette.testclient import TestClient

from graphmem import Handle
from graphmem.errors import StillStartingError
from graphmem.serve import logins
from graphmem.serve.listening import ListenAddress
from graphmem.serve.logins import one_time
from graphmem.serve.pages import PAGES
from graphmem.serve.server import Options, guarded
from graphmem.settings import Settings
from tests.explorer.conftest import (
    EVIL,
    Browser,
    Checked,
    browser,
    check_inert,
    correct,
    form_of,
    undo,
    write_hostile,
)
from tests.plugins import hostile
from tests.plugins.everything import write_everything
from tests.plugins.graph import fresh_tenant
from tests.plugins.service import PORT, Api, served, settings_of

MAY = datetime(2026, 5, 3, 9, tzinfo=UTC)


def test_a_session_is_a_cookie_that_only_this_server_reads(api: Api, tenant: str) -> None:
    found = Browser(api.http).log_in(key=api.key(tenant))
    line = found.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {one.strip() for one in line.split(";")}
    assert "gm_" not in line
    refused = Browser(api.http).log_in(key="gm_x_y")
    assert refused.status_code == 401
    assert "set-cookie" not in refused.headers
    visitor = browser(api, tenant)
    [name] = visitor.cookies
    value = visitor.cookies[name]
    for wrong in ("", "x", value[:-1], value.replace(".", ".9", 1), f"operator{value[12:]}"):
        assert Browser(api.http).get("/login")
        stranger = Browser(api.http)
        stranger.cookies = {name: wrong}
        away = stranger._sent("GET", "/slot?subject=a&predicate=b")
        assert away.status_code == 303, wrong
        assert away.headers["location"] == "/login?next=%2Fslot%3Fsubject%3Da%26predicate%3Db"
    # A session opens pages, never the API; a key opens the API, never pages.
    assert visitor._sent("GET", "/v1/memories").status_code == 401
    visitor.get("/")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphmem.serve.logins.time.time", lambda: 4e9)
        assert visitor._sent("GET", "/").status_code == 303
    api.file.revoke(value.partition(".")[0])
    assert visitor._sent("GET", "/").status_code == 303


def test_a_login_leads_back_to_a_page_and_nowhere_else(api: Api, tenant: str) -> None:
    key = api.key(tenant)
    for given, leads in {
        "/slot?subject=a&predicate=b": "/slot?subject=a&predicate=b",
        "/correct?id=x": "/correct?id=x",
        "//evil.example/": "/",
        "https://evil.example/search": "/",
        "/\\evil.example": "/",
        "/logout": "/",
        "/v1/memories": "/",
        "http://[": "/",
        "": "/",
    }.items():
        found = Browser(api.http).log_in(key=key, next=given)
        assert found.headers["location"] == leads, given
    visitor = browser(api, tenant)
    left = visitor.post(form_of(visitor.get("/"), "/logout"), follows=False)
    assert left.headers["location"] == "/login"
    visitor.cookies = {one: it for one, it in visitor.cookies.items() if it not in {"", '""'}}
    assert visitor._sent("GET", "/").status_code == 303


def test_a_link_opens_one_session_of_the_operator(migrated: Settings, tmp_path: Path) -> None:
    tenant = fresh_tenant()
    settings = settings_of(migrated, tmp_path / "keys.json", tenant)
    with one_time() as (secrets, ticket):
        options = Options(settings, ListenAddress(port=PORT), secrets=secrets)
        with TestClient(guarded(options, PORT), base_url=f"http://127.0.0.1:{PORT}") as http:
            wrong = Browser(http).log_in(ticket="x")
            assert wrong.status_code == 401
            assert form_of(Browser(http).get("/login", ticket=ticket), "/login")["ticket"] == ticket
            visitor = Browser(http)
            assert visitor.log_in(ticket=ticket).status_code == 303
            assert "operator: read, write, review, erase, admin" in visitor.get("/")
            assert "used or is too old" in Browser(http).log_in(ticket=ticket).text
    with one_time() as (secrets, ticket):
        assert secrets.ticket is not None
        old = secrets.ticket.stat().st_mtime - logins.TICKET_S - 1
        os.utime(secrets.ticket, (old, old))
        with TestClient(
            guarded(Options(settings, ListenAddress(port=PORT), secrets=secrets), PORT),
            base_url=f"http://127.0.0.1:{PORT}",
        ) as http:
            assert Browser(http).log_in(ticket=ticket).status_code == 401


def test_forms_of_other_sessions_are_refused(api: Api, tenant: str, plain: Handle) -> None:
    belief = plain.observe("Ada", "lives_in", "Porto").belief_id
    visitor, other = browser(api, tenant), browser(api, tenant)
    query = urlencode({"id": belief, "how": "never", "reason": "x"})
    plan = form_of(
        visitor.get("/correct", id=belief, step="preview", how="never", reason="x"), "/c"
    )
    for token in ("", "x", "é", form_of(other.get("/"), "/logout")["token"]):
        found = visitor.post(plan | {"token": token, "action": f"/correct?{query}"})
        assert found.status_code == 403
        assert "another session" in found.text
    done = Checked(correct(visitor, belief, how="never")).forms
    [steps] = [one for one in done if one["action"] == "/undo"]
    forged = steps | {"steps": f"archive {belief}"}
    assert visitor.post(forged).status_code == 403
    away = visitor.http.post(
        "/undo", headers={"Origin": "http://evil.example"}, follow_redirects=False
    )
    assert away.status_code == 403


def test_every_page_of_everything(api: Api, tenant: str, plain: Handle) -> None:
    known = write_everything(plain)
    visitor = browser(api, tenant)
    pages = [visitor.get(path) for path in ("/", "/subject", "/review", "/search")]
    pages += [visitor.get("/search", q="alice"), visitor.get("/subject", name="alice")]
    slot = visitor.get("/slot", subject="alice", predicate="works_on")
    assert "Atlas" in slot
    turn = plain.episodes.turns(known["episode"]).turns[0]
    seen = {urlsplit(link) for page in [*pages, slot] for link in Checked(page).links}
    for link in seen:
        visitor.get(link.path, **dict(parse_qsl(link.query)))
    assert turn.text in unescape(visitor.get("/item", id=turn.id))
    for item_id in (known["episode"], turn.id):
        visitor.get("/item", id=item_id)
    [event] = plain.history(plain.current("alice", "works_on").candidates[0].belief_id)
    assert "alice works on" in visitor.get("/item", id=event.id)
    declared = plain.predicates.declare("plays", cardinality="MANY").event_id
    retracted = plain.beliefs.retract(event.id).event_id
    assert "alice works on" in visitor.get("/item", id=retracted)
    for printed in (declared, known["proposal"], known["evidence"], declared[:13]):
        assert f"id {printed}" in visitor.get("/item", id=printed)
    browser(api, tenant, "user:ann").get("/item", id=event.id)
    browser(api, fresh_tenant(), "*").get("/item", 404, id=event.id)
    assert "No item" in visitor.get("/item", 404, id="b_nothing")
    visitor.get("/item", 404, id="x" * 100)
    visitor.get("/item", 422, id=known["episode"][:1] * 300)
    visitor.get("/slot", 422, subject="a", predicate="b", valid="yesterday")


def test_two_hundred_hostile_texts_are_inert(api: Api, tenant: str, plain: Handle) -> None:
    mixed = write_hostile(plain)
    odd = [*hostile.COMMANDS, "<b>" + "word " * 20_000]
    with plain.session(EVIL[2]) as session:
        messages: list[Any] = [
            {"role": "user", "name": text[:50], "content": text} for text in (*mixed[:30], *odd)
        ]
        session.add_messages(messages)
        episode = session.episode_id
    visitor = browser(api, tenant)
    pages = [visitor.get("/"), visitor.get("/subject"), visitor.get("/search", q=mixed[0])]
    pages += [visitor.get("/slot", subject="Ada", predicate="is")]
    assert "100 more values" in pages[-1]
    assert "Too many values for a picture" in pages[-1]
    ids = [one.id for one in plain.beliefs.list(limit=300).beliefs][::20]
    ids += [one.id for one in plain.memories.list(limit=300).memories][::20]
    ids += [episode, *(one.id for one in plain.episodes.turns(episode).turns[-8:])]
    pages += [visitor.get(path, id=one) for one in ids for path in ("/item", "/graph")]
    for text in mixed[:20]:
        pages.append(visitor.get("/slot", subject=text, predicate="is"))
        pages.append(visitor.get("/search", q=text))
        pages.append(visitor.get("/replay", q=text))
        given = {"step": "preview", "right": text, "reason": text, "how": "never"}
        pages.append(visitor.get("/correct", id=ids[0], **given))
        found = visitor._sent("GET", f"/item?{urlencode({'id': text[:200]})}")
        assert found.status_code in {404, 422}
        pages.append(found.text)
    for page in pages:
        check_inert(page)
    assert "<b>word word" in Checked(visitor.get("/item", id=ids[-1])).shown


def test_no_request_leaves_the_host(api: Api, tenant: str) -> None:
    visitor = browser(api, tenant)
    for path in ("/", "/login", "/assets/explorer.css", "/assets/explorer.js", "/assets/icon.svg"):
        found = visitor._sent("GET", path)
        assert found.status_code == 200
        policy = found.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert found.headers["referrer-policy"] == "same-origin"
        text = found.text.replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|@import|url\(", text), path


def test_neo4j_browser_is_one_click_away_for_an_operator(
    api: Api, tenant: str, plain: Handle
) -> None:
    with plain.session("monday") as session:
        session.add_messages([{"role": "user", "content": "I live in Porto.", "at": MAY}])
        [turn] = session.episodes.turns(session.episode_id).turns
        episode = session.episode_id
    belief = plain.observe("Ada", "lives_in", "Porto").belief_id
    memory = str(plain.remember("The office has 12 desks.").memory_id)
    operator, other = browser(api, tenant, rights="read admin"), browser(api, tenant)
    for asked, drawn in (
        (belief, belief),
        (memory, memory),
        (episode, episode),
        (turn.id, episode),
    ):
        link = f"/draw?id={asked}"
        assert link in Checked(operator.get("/item", id=asked)).links
        assert link not in Checked(other.get("/item", id=asked)).links
        assert "lacks the right admin" in other.get("/draw", 403, id=asked)
        found = operator._sent("GET", link)
        assert found.status_code == 303
        given = dict(parse_qsl(urlsplit(found.headers["location"]).query))
        assert given["cmd"] == "edit"
        assert f'"{drawn}"' in given["arg"]
        assert f'"{tenant}"' in given["arg"]
        assert "Porto" not in found.headers["location"]
    operator.get("/draw", 404, id="b_0000")


def test_pages_name_the_missing_right(api: Api, tenant: str, plain: Handle) -> None:
    belief = plain.observe("Ada", "lives_in", "Porto").belief_id
    blind = browser(api, tenant, rights="write")
    for path in PAGES - {"/scope", "/logout", "/undo", "/correct"}:
        assert "lacks the right read" in blind.get(path, 403)
    writer = browser(api, tenant, rights="read write")
    never = {"id": belief, "how": "never", "reason": "x", "step": "preview"}
    assert "lacks the right review" in writer.get("/correct", 403, **never)
    reader = browser(api, tenant, rights="read")
    changed = never | {"how": "changed", "right": "Faro"}
    assert "lacks the right write" in reader.get("/correct", 403, **changed)
    assert "lacks the right review" in reader.get("/review")
    token = form_of(reader.get("/"), "/logout")["token"]
    form = {"action": "/review", "id": "p", "decision": "accept", "token": token}
    assert reader.post(form).status_code == 403
    assert [one.object for one in plain.current("Ada", "lives_in").candidates] == ["Porto"]


def test_other_tenants_and_scopes_stay_hidden(api: Api, tenant: str, plain: Handle) -> None:
    hidden = plain.scope("user:ann").observe("Ann", "lives_in", "Porto").belief_id
    event = plain.scope("user:ann").history(hidden)[0].id
    shown = plain.scope("team:a").observe("Team", "works_on", "Atlas").belief_id
    for visitor in (browser(api, fresh_tenant(), "*"), browser(api, tenant, "team:a")):
        assert "Porto" not in visitor.get("/item", 404, id=hidden)
        visitor.get("/item", 404, id=event)
        assert "Porto" not in visitor.get("/slot", subject="Ann", predicate="lives_in")
    visitor = browser(api, tenant, "team:a", "team:b*")
    choice = form_of(visitor.get("/"), "/scope")
    assert visitor.post(choice | {"scope": "user:ann"}).status_code == 403
    assert visitor.post(choice | {"scope": "team:böb"}).status_code == 200
    assert "team:böb" in visitor.get("/")
    visitor.get("/item", 404, id=shown)
    prefixes = browser(api, tenant, "user:*")
    assert "Porto" not in prefixes.get("/")
    prefixes.post(form_of(prefixes.get("/"), "/scope") | {"scope": "user:ann"})
    assert "Porto" in prefixes.get("/")


def test_a_slot_as_of_a_past_day(api: Api, tenant: str, plain: Handle) -> None:
    plain.observe("Ada", "lives_in", "Porto", at=MAY)
    plain.observe("Ada", "lives_in", "Faro", at=MAY + timedelta(days=30, hours=8))
    visitor, slot = browser(api, tenant), {"subject": "Ada", "predicate": "lives_in"}

    def values(**given: str) -> list[tuple[str, str]]:
        page = visitor.get("/slot", **slot, **given)
        found = page[page.index('<ul class="values">') :]
        return re.findall(
            r'aria-hidden="true">(.)</span>.*\n?.*<bdi class="said">(\w+)</bdi>', found
        )

    assert values() == [("●", "Faro"), ("○", "Porto")]
    assert values(valid=f"{MAY:%Y-%m-%d}") == [("●", "Porto")]
    # A day includes all that occurred on it.
    assert values(valid=f"{MAY + timedelta(days=30):%Y-%m-%d}")[0] == ("●", "Faro")
    assert values(valid="2999-01-01", known="2999-01-01")[0] == ("●", "Faro")
    assert "Nothing is known at that time" in visitor.get("/slot", **slot, known="2026-01-01")
    assert "This is the past" in visitor.get("/slot", **slot, known="2026-01-01")


def test_what_if_there_were_other_evidence(api: Api, tenant: str, plain: Handle) -> None:
    belief = plain.believe("The river floods", confidence=0.6).belief_id
    event = plain.add_evidence(belief, "refuting", 0.85).event_id
    visitor = browser(api, tenant)
    page = Checked(visitor.get("/item", id=belief)).shown
    assert "Then the test would be" not in page
    more = Checked(visitor.get("/item", id=belief, suppose="refuting", strength="0.85")).shown
    assert "demoted, log ratio −3.469 instead of −1.735" in more
    less = Checked(visitor.get("/item", id=belief, without=event)).shown
    assert "accumulating, log ratio +0.000 instead of −1.735" in less
    visitor.get("/item", 422, id=belief, suppose="x")
    visitor.get("/item", 422, id=belief, suppose="refuting", strength="much")
    visitor.get("/item", 404, id=belief, without="e")
    assert len(plain.history(belief)) == 2


def test_a_search_shows_why_and_what_was_left_out(api: Api, tenant: str, plain: Handle) -> None:
    plain.observe("Ada", "lives_in", "Porto", at=MAY)
    plain.observe("Ada", "lives_in", "Faro", at=MAY + timedelta(days=30))
    rejected = plain.remember("Ada lives in Lisbon by the river.").memory_id
    plain.reject(str(rejected), reason="A joke")
    page = Checked(browser(api, tenant).get("/search", q="Where does Ada live?")).shown
    shown, left = page.split("Left out (")
    assert "Faro" in shown
    assert re.search(r"meaning|words", shown)
    assert "a person rejected it" in left
    assert "another value leads its slot" in left


@pytest.mark.parametrize(("how", "mark"), [("changed", "outdated"), ("never", "rejected")])
def test_a_value_is_put_right_and_back(
    api: Api, tenant: str, plain: Handle, how: str, mark: str
) -> None:
    plain.predicates.declare("lives_in", cardinality="ONE")
    belief = plain.observe("Ada", "lives_in", "Porto", at=MAY).belief_id
    visitor = browser(api, tenant)
    before = plain.current("Ada", "lives_in").candidates
    preview = visitor.get(
        "/correct", id=belief, step="preview", how=how, right="Faro", reason="She moved"
    )
    assert f'{mark}</span></span> <bdi class="said">Porto' in preview
    assert "Ada lives in Faro" in Checked(preview).shown
    assert plain.current("Ada", "lives_in").candidates == before
    done = correct(visitor, belief, how=how, right="Faro")
    found = plain.current("Ada", "lives_in")
    assert found.leader is not None
    assert found.leader.object == "Faro"
    assert ("Porto" in [one.object for one in found.candidates]) is (how == "changed")
    assert plain.beliefs.get(belief).status == ("current" if how == "changed" else "rejected")
    [event] = plain.history(found.leader.belief_id)
    assert (event.source, event.actor, event.payload["note"]) == ("explorer", "test", "I know it")
    undo(visitor, done)
    assert [one.object for one in plain.current("Ada", "lives_in").candidates] == ["Porto"]
    assert plain.current("Ada", "lives_in").candidates[0].belief == pytest.approx(before[0].belief)


def test_a_value_among_several_ends(api: Api, tenant: str, plain: Handle) -> None:
    plain.predicates.declare("likes", cardinality="MANY")
    belief = plain.observe("Bob", "likes", "coffee").belief_id
    visitor = browser(api, tenant)
    done = correct(visitor, belief, how="changed", right="tea")
    found = {one.object: one.belief for one in plain.current("Bob", "likes").candidates}
    assert found["tea"] > 0.9
    assert found["coffee"] < 0.5
    undo(visitor, done)
    assert [one.object for one in plain.current("Bob", "likes").candidates if one.events] == [
        "coffee"
    ]
    assert plain.beliefs.get(belief).belief > 0.8


@pytest.mark.parametrize("how", ["changed", "never"])
def test_texts_are_put_right_and_back(api: Api, tenant: str, plain: Handle, how: str) -> None:
    memory_id = str(plain.remember("The office has 12 desks.").memory_id)
    belief = plain.believe("The river floods every spring").belief_id
    visitor = browser(api, tenant)
    for item_id, right in ((memory_id, "The office has 14 desks."), (belief, "It never floods")):
        done = correct(visitor, item_id, how=how, right=right)
        assert plain.expand(item_id).item.status != "current"  # type: ignore[union-attr]
        undo(visitor, done)
        assert plain.expand(item_id).item.status == "current"  # type: ignore[union-attr]
    assert [one.content for one in plain.memories.list().memories] == ["The office has 12 desks."]
    assert [one.statement for one in plain.beliefs.list().beliefs] == [
        "The river floods every spring"
    ]


def test_what_a_correction_lacks_is_asked_for(api: Api, tenant: str, plain: Handle) -> None:
    belief = plain.observe("Ada", "lives_in", "Porto").belief_id
    visitor = browser(api, tenant)
    for given, answer in (
        ({"right": "Faro"}, "Give a reason"),
        ({"reason": "x"}, "Give what is right now"),
        ({"reason": "x", "right": " porto "}, "states already"),
    ):
        page = visitor.get("/correct", id=belief, step="preview", how="changed", **given)
        assert answer in page
        assert form_of(page, "/correct")["step"] == "preview"
    visitor.get("/correct", 422, id=belief, step="preview", right="x" * 2_001, reason="x")


def test_a_session_that_ends_in_the_middle_of_a_correction(
    api: Api, tenant: str, plain: Handle
) -> None:
    belief = plain.observe("Ada", "lives_in", "Porto").belief_id
    visitor = browser(api, tenant)
    given = {"id": belief, "how": "changed", "right": "Faro & Olhão", "reason": "She moved"}
    form = form_of(visitor.get("/correct", **given, step="preview"), "/correct")
    visitor.cookies = {}
    refused = visitor.post(form, follows=False)
    assert refused.status_code == 303
    [(_, back)] = parse_qsl(urlsplit(refused.headers["location"]).query)
    again = visitor.log_in(key=api.key(tenant), next=back).headers["location"]
    page = form_of(visitor.get("/correct", **dict(parse_qsl(urlsplit(again).query))), "/correct")
    assert {name: page[name] for name in ("id", "right", "reason")} == {
        name: given[name] for name in ("id", "right", "reason")
    }
    assert [one.object for one in plain.current("Ada", "lives_in").candidates] == ["Porto"]


def test_two_people_correct_the_same_fact(api: Api, tenant: str, plain: Handle) -> None:
    plain.predicates.declare("lives_in", cardinality="ONE")
    belief = plain.observe("Ada", "lives_in", "Porto", at=MAY).belief_id
    ann, bob = browser(api, tenant), browser(api, tenant)
    asked = {"id": belief, "step": "preview", "how": "changed", "reason": "x"}
    hers = form_of(ann.get("/correct", **asked, right="Faro"), "/correct")
    his = form_of(bob.get("/correct", **asked, right="Braga"), "/correct")
    assert "Done" in ann.post(hers).text
    second = bob.post(his).text
    assert "was changed meanwhile" in second
    assert "Faro" in second
    assert [one.object for one in plain.current("Ada", "lives_in").candidates] == ["Faro", "Porto"]
    # What he sees now he may confirm; a form that is sent twice is done once.
    again = form_of(second, "/correct")
    assert "Done" in bob.post(again).text
    bob.post(again)
    assert len(plain.current("Ada", "lives_in").candidates) == 3
    assert plain.current("Ada", "lives_in").leader.object == "Braga"  # type: ignore[union-attr]


def test_proposals_are_decided(api: Api, tenant: str, plain: Handle) -> None:
    plain.remember("The office has 12 desks.")
    plain.remember("The office has 14 desks.", on_update="propose")
    visitor = browser(api, tenant)
    assert "1 proposal to decide" in visitor.get("/")
    page = visitor.get("/review")
    decided = visitor.post(form_of(page, "/review") | {"decision": "accept"})
    assert "Nothing waits for a decision" in decided.text
    assert [one.content for one in plain.memories.list().memories] == ["The office has 14 desks."]


def test_an_empty_memory_and_one_without_keys(migrated: Settings, tmp_path: Path) -> None:
    settings = settings_of(migrated, tmp_path / "keys.json", fresh_tenant())
    with served(settings, no_auth=True) as api:
        visitor = Browser(api.http)
        assert "Nothing is stored yet" in visitor.get("/")
        choice = form_of(visitor.get("/"), "/scope")
        assert visitor.post(choice | {"scope": "user:ann"}).status_code == 200
        assert visitor.post(choice | {"token": ""}).status_code == 403


def test_a_page_loads_again_until_the_memory_has_started(
    api: Api, tenant: str, plain: Handle, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain.observe("Ada", "lives_in", "Faro")
    visitor = browser(api, tenant)
    form = form_of(visitor.get("/"), "/logout")

    async def starting(_: Any) -> Any:
        raise StillStartingError("Memory has been starting for 5 s: the database.")

    with monkeypatch.context() as patch:
        patch.setattr("graphmem.mcp.connection.MemoryConnection.memory", starting)
        page = visitor.get("/", 503)
        assert '<meta http-equiv="refresh" content="2">' in page
        assert "Memory has been starting for 5 s: the database." in page
        sent = visitor.post(form)
        assert (sent.status_code, "http-equiv" in sent.text) == (503, False)
    assert "http-equiv" not in visitor.get("/")


def test_a_database_that_does_not_answer(alone: Settings) -> None:
    with served(alone) as api:
        visitor = browser(api, "acme")
        assert "This did not work" in visitor.get("/", 503)
