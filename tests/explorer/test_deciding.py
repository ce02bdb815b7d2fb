"""Pages on which a person decides: review, erasure, usage and jobs; and a database that returns."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import neo4j
import pytest

from bench.chaos.proxy import proxy_to
from graphmem import Handle
from graphmem.settings import Settings
from tests.explorer.conftest import EVIL, Browser, Checked, browser, form_of, undo
from tests.plugins.everything import write_everything
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.ratings import Rate
from tests.plugins.service import Api, served, settings_of

MAY = datetime(2026, 5, 3, 9, tzinfo=UTC)
ALL = "read write review erase admin"
REASON = "Bob told me so"


def notes(look: Look, tenant: str, kind: str) -> list[tuple[str, str, str | None]]:
    """Return the source, actor and note of the events of a type."""
    rows = look.rows(
        "MATCH (e:Event {tenant: $tenant}) WHERE e.id IS NOT NULL AND e.type = $kind "
        "RETURN e.source AS source, e.actor AS actor, e.payload AS payload",
        tenant=tenant,
        kind=kind,
    )
    payloads = [json.loads(row["payload"]) for row in rows]
    return [
        (row["source"], row["actor"], payload.get("note") or payload.get("reason"))
        for row, payload in zip(rows, payloads, strict=True)
    ]


def form_for(page: str, item_id: str, decision: str, reason: str = REASON) -> dict[str, str]:
    """Return the filled form of an item in the queue."""
    [found] = [one for one in Checked(page).forms if one.get("id") == item_id]
    return found | {"decision": decision, "reason": reason}


def test_proposals_are_decided_with_a_reason_and_back(
    api: Api, tenant: str, plain: Handle, look: Look
) -> None:
    session = plain.session("talk")
    session.add_messages(
        [
            {"role": "user", "content": "I moved to Lisbon.", "id": "1"},
            {"role": "user", "content": "My favourite colour is blue.", "id": "2"},
        ]
    )
    session.extract(extractor="rules", review=True)
    [first, second] = [one.id for one in plain.proposals.list().proposals]
    visitor = browser(api, tenant)
    accepted = visitor.post(form_for(visitor.get("/review"), first, "accept")).text
    assert "Done: the memory has your decision." in accepted
    assert notes(look, tenant, "ACCEPT") == [("explorer", "test", REASON)]
    [belief] = plain.beliefs.list().beliefs
    assert belief.positive > 0
    undo(visitor, accepted)
    assert plain.evidence_for(belief.id).lines == ()
    dismissed = visitor.post(form_for(visitor.get("/review"), second, "dismiss")).text
    assert notes(look, tenant, "DISMISS") == [("explorer", "test", REASON)]
    assert "Nothing waits for a decision" in dismissed
    undo(visitor, dismissed)
    assert len(plain.proposals.list(status="accepted").proposals) == 2
    # A colleague who decides later is shown what it is by now.
    again = {"action": "/review", "id": second, "decision": "dismiss"}
    token = form_of(visitor.get("/"), "/logout")["token"]
    assert "accepted" in visitor.post(again | {"token": token}).text
    assert visitor.post(again | {"token": token, "decision": "x"}).status_code == 422
    assert visitor.post(again | {"token": token, "reason": "x" * 2_001}).status_code == 422


def test_an_update_is_accepted_and_taken_back(api: Api, tenant: str, plain: Handle) -> None:
    plain.remember("The office has 12 desks.")
    plain.remember("The office has 14 desks.", on_update="propose")
    [update] = plain.proposals.list().updates
    visitor = browser(api, tenant)
    done = visitor.post(form_for(visitor.get("/review"), update.id, "accept")).text
    assert [one.content for one in plain.memories.list().memories] == ["The office has 14 desks."]
    undo(visitor, done)
    assert len(plain.memories.list().memories) == 2


def test_flags_and_what_may_be_outdated_are_decided(
    api: Api, tenant: str, plain: Handle, look: Look
) -> None:
    belief = plain.believe("The river floods", confidence=0.9).belief_id
    for _ in range(4):
        plain.add_evidence(belief, "refuting", 0.9)
    old = str(plain.remember("The tram stops at noon.", at=MAY - timedelta(days=300)).memory_id)
    visitor = browser(api, tenant)
    page = visitor.get("/review")
    assert "the evidence speaks against it" in Checked(page).shown
    assert "may be outdated" in Checked(page).shown
    assert "may be outdated" in Checked(browser(api, tenant, rights="read").get("/review")).shown
    visitor.post(form_for(page, belief, "keep"))
    assert notes(look, tenant, "RESOLVE") == [("explorer", "test", REASON)]
    assert visitor.post(form_for(page, belief, "reject", "")).status_code == 422
    done = visitor.post(form_for(page, belief, "reject")).text
    assert notes(look, tenant, "REJECT") == [("explorer", "test", REASON)]
    assert plain.beliefs.get(belief).status == "rejected"
    undo(visitor, done)
    assert plain.beliefs.get(belief).status == "current"
    done = visitor.post(form_for(page, old, "retire")).text
    assert plain.memories.list().memories == ()
    undo(visitor, done)
    assert len(plain.memories.list().memories) == 1


def test_what_is_typed_outlives_the_session(api: Api, tenant: str, plain: Handle) -> None:
    plain.remember("The office has 12 desks.")
    plain.remember("The office has 14 desks.", on_update="propose")
    [update] = plain.proposals.list().updates
    visitor = browser(api, tenant, rights=ALL)
    memory = str(plain.remember("A secret.").memory_id)
    for path, form in (
        ("/review", form_for(visitor.get("/review"), update.id, "accept")),
        ("/erase", form_of(visitor.get("/erase", id=memory), "/erase", reason=REASON)),
    ):
        stranger = Browser(api.http)
        away = stranger.post(form, follows=False)
        assert away.status_code == 303
        [(_, back)] = parse_qsl(urlsplit(away.headers["location"]).query)
        found = stranger.log_in(key=api.key(tenant, rights=ALL), next=back)
        place = urlsplit(found.headers["location"])
        assert place.path == path
        assert REASON in stranger.get(path, **dict(parse_qsl(place.query)))
    assert "token" not in back
    for body in ("&" * 50, "reason=%FF"):
        other = api.http.post("/review", content=body, follow_redirects=False)
        assert other.status_code == 303
    assert len(plain.proposals.list().updates) == 1


def test_nothing_is_erased_without_right_confirmation_and_reason(
    api: Api, tenant: str, plain: Handle
) -> None:
    memory = str(plain.remember("Alice has a secret garden.").memory_id)
    kept = plain.remember("Bob has a secret garden.").memory_id
    for rights in ("read", "read write review admin"):
        blind = browser(api, tenant, "*", rights=rights)
        assert "lacks the right erase" in blind.get("/erase", 403, id=memory)
        assert "/erase" not in blind.get("/item", id=memory)
        token = form_of(blind.get("/"), "/logout")["token"]
        form = {"action": f"/erase?id={memory}", "token": token, "confirm": "erase", "reason": "x"}
        assert blind.post(form).status_code == 403
    visitor = browser(api, tenant, rights="read erase")
    assert f"/erase?what=item&amp;id={memory}" in visitor.get("/item", id=memory)
    assert "does not grant all scopes" in visitor.get("/erase", 403, what="person", id="Alice")
    assert "does not grant all scopes" in visitor.get("/erase", 403, what="tenant")
    visitor.get("/erase", 422, what="x", id="y")
    assert "No item" in visitor.get("/erase", id="m_nothing")
    plan = visitor.get("/erase", id=memory)
    assert "Alice has a secret garden" in Checked(plan).shown
    form = form_of(plan, "/erase")
    for given, answer in (
        ({"confirm": "", "reason": "x"}, "to confirm"),
        ({"confirm": memory, "reason": "x"}, "to confirm"),
        ({"confirm": "erase", "reason": " "}, "Give a reason"),
        ({"confirm": "erase", "reason": "x", "seen": "y"}, "changed meanwhile"),
    ):
        assert answer in visitor.post(form | given).text
    assert plain.memories.get(memory).content == "Alice has a secret garden."
    done = visitor.post(form | {"confirm": "erase", "reason": "She asked"})
    assert "A second search found nothing of it" in done.text
    shown = Checked(done.text).shown
    assert "Asked by:         test" in shown
    assert "Reason:           She asked" in shown
    assert [one.id for one in plain.memories.list().memories] == [kept]


def test_a_person_a_scope_and_a_tenant_are_erased(api: Api, tenant: str, plain: Handle) -> None:
    own = plain.scope("user:ann")
    own.observe("Ann", "lives_in", "Porto")
    own.remember("Ann likes the sea.")
    visitor = browser(api, tenant, "user:ann", "*", rights=ALL)
    assert "what=person" in visitor.get("/subject", name="Ann")
    plan = visitor.get("/erase", what="person", id="Ann")
    assert "1 other place" in Checked(plan).shown
    form = form_of(plan, "/erase", reason="She asked")
    assert "to confirm" in visitor.post(form | {"confirm": "erase"}).text
    assert "Receipt" in visitor.post(form | {"confirm": "Ann"}).text
    assert own.beliefs.list().beliefs == ()
    assert "She asked" in visitor.get("/erase")
    for what, name in (("scope", "user:ann"), ("tenant", tenant)):
        form = form_of(visitor.get("/erase", what=what), "/erase", reason="The end")
        assert "Receipt" in visitor.post(form | {"confirm": name}).text
    assert plain.admin.is_empty()


def test_usage_shows_tiers_and_the_latest(api: Api, tenant: str, plain: Handle, rate: Rate) -> None:
    used, unused = (
        str(plain.remember(text).memory_id) for text in ("The tram is late.", "Ducks quack.")
    )
    assert "Nothing is rated yet" in browser(api, tenant).get("/usage")
    rate(plain, {used: 3_000.0, unused: 300.0})
    plain.recall("tram")
    plain.usage.flush()
    visitor = browser(api, tenant)
    page = Checked(visitor.get("/usage")).shown
    assert page.index("The tram is late.") < page.index("Ducks quack.")
    assert "tram: found" in page
    [tier] = [one.rating.tier for one in plain.usage.ratings() if one.id == unused]
    low = Checked(visitor.get("/usage", tier=tier)).shown
    assert "Ducks quack." in low[: low.index("Latest searches")]
    assert "The tram is late." not in low[: low.index("Latest searches")]
    visitor.get("/usage", 422, tier="x")


def test_long_calls_are_shown_and_ended(
    api: Api, tenant: str, plain: Handle, driver: neo4j.Driver
) -> None:
    plain.remember("The tram is late.")
    operator, reader = browser(api, tenant, "*", rights=ALL), browser(api, tenant, rights="read")
    assert "No worker has run a job yet" in operator.get("/jobs")
    assert "lacks the right admin" in reader.get("/jobs")
    driver.execute_query(
        "UNWIND ['op_a', 'op_b'] AS id CREATE (:JobUnit {tenant: $tenant, id: id, job: 'call', "
        "unit: 'consolidate', scope: 'global', asked_at: datetime(), owner: 'x', failures: 0, "
        "until: datetime() + duration('PT1H'), progress: '{\"passage\": 7}', "
        "outcome: CASE id WHEN 'op_b' THEN 'model_unavailable' END})",
        tenant=tenant,
    )
    assert "consolidate" not in reader.get("/jobs")
    page = operator.get("/jobs")
    assert "7 passages" in page
    assert "model_unavailable" in page
    [form] = [one for one in Checked(page).forms if one.get("id")]
    token = form_of(reader.get("/"), "/logout")["token"]
    assert reader.post(form | {"token": token}).status_code == 404
    assert "cancelling" in operator.post(form).text
    job = {"action": "/jobs", "job": "rate"}
    assert reader.post(job | {"token": token}).status_code == 403
    driver.execute_query(
        "CREATE (:Job {tenant: $tenant, name: 'rate', failures: 2, error: 'x'})", tenant=tenant
    )
    page = operator.get("/jobs")
    assert "2 times" in page
    [form] = [one for one in Checked(page).forms if one.get("job")]
    assert "run_jobs" in operator.post(form).text


def test_hostile_texts_are_inert_on_these_pages(
    api: Api, tenant: str, plain: Handle, driver: neo4j.Driver
) -> None:
    evil = " ".join(EVIL)
    write_everything(plain)
    plain.remember(f"{evil} 12", at=MAY - timedelta(days=300))
    plain.remember(f"{evil} 13", on_update="propose")
    plain.observe(EVIL[0], "is", evil)
    plain.scope(EVIL[1]).remember(evil)
    with plain.session(evil[:100]) as session:
        session.usage.log_search(evil, tool=EVIL[4], results=[("file", evil)])
    plain.usage.flush()
    driver.execute_query(
        "CREATE (:JobUnit {tenant: $tenant, id: 'u', job: $evil, unit: $evil, scope: $evil, "
        "error: $evil, reason: $evil, failures: 2, served_at: datetime(), due_at: datetime()}) "
        "CREATE (:Job {tenant: $tenant, name: $evil, error: $evil, failures: 2})",
        tenant=tenant,
        evil=evil,
    )
    visitor = browser(api, tenant, "global", "*", rights=ALL)
    pages = [visitor.get(path) for path in ("/usage", "/jobs", "/review", "/erase")]
    pages.append(visitor.get("/erase", what="person", id=EVIL[0]))
    pages.append(visitor.get("/erase", id=EVIL[2], reason=evil))
    pages.append(visitor.get("/review", id=evil, reason=evil))
    for page in pages:
        assert "onerror" not in page or "onerror=alert(1)&gt;" in page
    assert EVIL[2] in unescape(pages[1])
    form = form_of(pages[4], "/erase", confirm=EVIL[0], reason=evil[:300])
    done = visitor.post(form)
    Checked(done.text)
    assert "Receipt" in done.text
    for tier in ("HIGH", "MEDIUM", "LOW", "VERY_LOW"):
        visitor.get("/usage", tier=tier)


def test_a_database_that_dies_and_returns(migrated: Settings, tmp_path: Path) -> None:
    assert migrated.uri is not None
    place = urlsplit(migrated.uri)
    with proxy_to(place.hostname or "", place.port or 0) as proxy:
        through = migrated.model_copy(update={"uri": proxy.uri})
        tenant = fresh_tenant()
        settings = settings_of(
            through, tmp_path / "keys.json", tenant, GRAPHMEM_MAX_RETRY_TIME_S="1"
        )
        with served(settings) as api:
            visitor = browser(api, tenant)
            assert "Nothing is stored yet" in visitor.get("/")
            proxy.target = ("127.0.0.1", 9)
            proxy.cut()
            assert "This did not work" in visitor.get("/", 503)
            proxy.target = (place.hostname or "", place.port or 0)
            assert "Nothing is stored yet" in visitor.get("/")


@pytest.mark.parametrize("path", ["/", "/slot", "/item", "/correct"])
def test_a_slot_of_very_many_values(
    api: Api, tenant: str, plain: Handle, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphmem.explorer.pages.RANKED", 30)
    monkeypatch.setattr("graphmem.explorer.pages.CANDIDATES", 30)
    monkeypatch.setattr("graphmem.explorer.correction.RANKED", 30)
    plain.predicates.declare("located_in", cardinality="ONE")
    done = plain.observe_many(
        {"subject": "Ada", "predicate": "located_in", "object": f"place {n}", "at": MAY}
        for n in range(31)
    )
    visitor = browser(api, tenant)
    right = {"step": "preview", "how": "changed", "right": "Faro", "reason": "x"}
    query = {
        "/": {},
        "/slot": {"subject": "Ada", "predicate": "located_in"},
        "/correct": {"id": done[0].belief_id, **right},
    }
    page = visitor.get(path, **query.get(path, {"id": done[0].belief_id}))
    assert "figure" not in page
    assert ("too many values to show" in page) is (path == "/correct")
    if path == "/":
        assert "31 values" in page
        assert "/slot?" + urlencode({"subject": "Ada", "predicate": "located_in"}) in unescape(page)


def test_times_name_their_zone(api: Api, tenant: str, plain: Handle) -> None:
    belief = plain.observe("Ada", "lives_in", "Porto", at=MAY).belief_id
    page = browser(api, tenant).get("/item", id=belief)
    assert '<time datetime="2026-05-03T09:00:00+00:00" data-minute>2026-05-03 09:00 UTC' in page
    assert '<time datetime="2026-05-03T09:00:00+00:00">3 May 2026</time>' in page
    assert 'Times are in <span id="zone">UTC</span>' in page
