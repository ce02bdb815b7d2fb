"""Keys of other tenants and of other scopes never read or change what they do not grant."""

from __future__ import annotations

import hashlib
import re
from random import Random
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from graphmem import Handle
from graphmem.serve.keys import RIGHTS
from graphmem.serve.operations import OPERATIONS
from tests.isolation.victims import MARK, mark_everything
from tests.plugins.clients import on_tenant
from tests.plugins.everything import write_everything
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.service import Api
from tests.plugins.texts import unlike

ALL = " ".join(RIGHTS)
VICTIM = "user:victim"
SCOPES = (
    None,
    None,
    "user:other",
    None,
    VICTIM,
    "user:other",
    "user:",
    "global",
    "*",
    "User:victim",
    "user:victim ",
)


class Attack:
    """A scope with one of everything, and keys that do not grant it."""

    def __init__(self, api: Api, look: Look, client: Handle) -> None:
        self.api = api
        self.look = look
        self.tenant = fresh_tenant()
        memory = on_tenant(client, self.tenant).scope(VICTIM)
        known = write_everything(memory)
        known |= mark_everything(memory, known)
        memory.usage.flush()
        shared = on_tenant(client, self.tenant)
        known["shared"] = str(shared.remember("Bob sails on the lake.").memory_id)
        known["shared belief"] = shared.believe("The lake is deep").belief_id
        known["turn"] = memory.episodes.turns(known["episode"]).turns[0].id
        self.ids = [*known.values(), *(one[:12] for one in known.values()), VICTIM, "x9", "*"]
        self.keys = {
            "another tenant": api.key(fresh_tenant(), VICTIM, "*", rights=ALL),
            "another scope": api.key(self.tenant, "user:other", rights=ALL),
            "several scopes": api.key(self.tenant, "team:red", "user:other", rights=ALL),
            "a prefix": api.key(self.tenant, "user:o*", rights=ALL),
            "the shared scope": api.key(self.tenant, rights=ALL),
        }
        self.before = self.digest()

    def digest(self) -> str:
        """Return a digest of what is in the scope."""
        rows = self.look.rows(
            "MATCH (n {tenant: $tenant, scope: $scope}) "
            "RETURN elementId(n) AS id, labels(n) AS of, properties(n) AS has",
            tenant=self.tenant,
            scope=VICTIM,
        )
        assert len(rows) > 50
        return hashlib.sha256(repr(sorted(map(repr, rows))).encode()).hexdigest()


@pytest.fixture(scope="module")
def attack(api: Api, look: Look, client: Handle) -> Attack:
    return Attack(api, look, client)


TEXTS = ("alice", "works_on", "Atlas", unlike(1), unlike(6), VICTIM, "notes.md")
VALUES: dict[str, tuple[Any, ...]] = {
    "messages": ([{"role": "user", "content": unlike(1)}],),
    "memories": ([unlike(2)],),
    "observations": ([{"subject": "alice", "predicate": "works_on", "object": "Oslo"}],),
    "evidence": ([{"kind": "refuting", "strength": 0.9}],),
    "what": ("memory", "belief", "episode", "turn"),
    "kind": ("supporting", "refuting", "file", "memory", "belief"),
    "scopes": ([VICTIM], ["global"], ["user:other", VICTIM]),
    "statuses": (["current", "superseded", "deprecated"],),
    "dry_run": (True, False),
    **dict.fromkeys(("include_hidden", "include_archived", "include_superseded"), (True,)),
    **dict.fromkeys(("strength", "confidence"), (0.8,)),
    "days": (30,),
    "limit": (1_000,),
    "at": ("2025-06-01T00:00:00Z",),
    "scope": (VICTIM,),
}
"""Values of parameters; others are ids or texts."""
OPTIONAL = {
    *(VALUES.keys() - {"evidence", "confidence", "kind", "days"}),
    *("event_id", "episode_id", "turn_id", "session_id", "subject", "predicate", "statement"),
}
WHOLE = {"admin.erase_tenant", "admin.erase_person"}
"""Operations that are only planned, since nothing can be written afterwards."""


def drawn(by: Random, name: str, ids: list[str]) -> Any:
    """Return a value of a parameter."""
    if name in VALUES:
        return by.choice(VALUES[name])
    if name in ("item_ids", "proposal_ids", "beliefs", "without", "results"):
        return by.sample(ids, 2)
    if name in ("tags", "statements"):
        return by.sample(TEXTS, 2)
    if name in ("ref", "of"):
        return by.choice([*ids, *TEXTS])
    return by.choice(ids if name.endswith("_id") or name == "target" else TEXTS)


@settings(phases=[Phase.generate], max_examples=max(5, settings().max_examples // 5))
@given(seed=st.integers(0, 2**32))
def test_no_key_reaches_what_it_does_not_grant(attack: Attack, seed: int) -> None:
    by = Random(seed)
    for name, key in attack.keys.items():
        for _ in range(20):
            one = by.choice(OPERATIONS)
            path = re.sub(r"{(\w+)}", lambda found: drawn(by, found[1], attack.ids), one.path)
            wanted = {
                parameter.name: drawn(by, parameter.name, attack.ids)
                for parameter in one.parameters
                if parameter.required or (parameter.name in OPTIONAL and by.random() < 0.3)
            }
            if one.method in WHOLE:
                wanted.pop("dry_run", None)
            scope = by.choice(SCOPES)
            headers = {} if scope is None else {"Graphmem-Scope": scope}
            found = attack.api.send(key, one.verb, f"/v1{path}", wanted, headers=headers)
            what = (name, one.method, path, wanted, scope, found.status_code, found.text)
            assert found.status_code < 500, what
            assert MARK not in found.text, what
            if scope == VICTIM and name != "another tenant":
                assert found.status_code in (403, 422), what
    assert attack.digest() == attack.before


def test_rights_are_needed(api: Api, tenant: str) -> None:
    by, ids = Random(5), ["m_1a2b", "b_1a2b"]
    for right in RIGHTS:
        key = api.key(tenant, "*", rights=right, trust="tool")
        headers = {"Graphmem-Scope": "user:alice"}
        for one in OPERATIONS:
            path = re.sub(r"{(\w+)}", lambda found: drawn(by, found[1], ids), one.path)
            wanted = {p.name: drawn(by, p.name, ids) for p in one.parameters if p.required}
            # The right is checked before the parameters.
            for body in (wanted, {"colour": "red"}):
                found = api.send(key, one.verb, f"/v1{path}", body, headers=headers)
                refused = found.status_code == 403 and found.json()["code"] == "not_granted"
                assert refused is (one.right != right), (right, one, found.text)


def test_a_key_of_a_part_reads_its_scopes_and_global(api: Api, client: Handle, tenant: str) -> None:
    for n, scope in enumerate(("user:alice", "team:red", "team:blue", "global"), 1):
        on_tenant(client, tenant).scope(scope).remember(f"{unlike(n)} {scope}")

    def seen(key: str, scope: str | None = None) -> set[str]:
        headers = {} if scope is None else {"Graphmem-Scope": scope}
        page = api.of(key)("GET", "/memories", headers=headers)
        return {one["scope"] for one in page["memories"]}

    team = api.key(tenant, "user:alice", "team:red", "team:b*")
    assert seen(team) == {"user:alice", "team:red", "global"}
    assert seen(team, "team:red") == {"team:red", "global"}
    assert seen(team, "team:blue") == {"team:blue", "global"}
    prefix = api.key(tenant, "team:*")
    found = api.send(prefix, "GET", "/v1/memories")
    assert (found.status_code, "Graphmem-Scope" in found.json()["hint"]) == (422, True)
    assert (
        api.send(prefix, "GET", "/v1/memories", headers={"Graphmem-Scope": "user:alice"}).json()[
            "code"
        ]
        == "not_granted"
    )
    stored = api.of(team)("POST", "/memories", {"content": "Alice rows."})
    one = on_tenant(client, tenant).scope("user:alice").memories.get(stored["memory_id"])
    assert one.scope == "user:alice"


def test_an_id_of_another_scope_is_unknown(api: Api, client: Handle, tenant: str) -> None:
    mine = on_tenant(client, tenant).scope(VICTIM).remember(unlike(1)).memory_id
    shared = on_tenant(client, tenant).remember(unlike(2)).memory_id
    key = api.key(tenant, "user:other", rights=ALL)
    for path in ("/memories/{}", "/why/{}", "/items/{}", "/items/{}/history"):
        answers = [
            api.send(key, "GET", f"/v1{path.format(one)}").json()
            for one in (str(mine), f"{str(mine)[:-4]}0000")
        ]
        for found, one in zip(answers, (str(mine), f"{str(mine)[:-4]}0000"), strict=True):
            found["detail"] = found["detail"].replace(one, "")
        assert answers[0] == answers[1]
        assert answers[0]["status"] == 404
    change = api.send(key, "POST", f"/v1/memories/{mine}/deprecate", {})
    assert (change.status_code, change.json()["code"]) == (404, "not_found")
    # A memory of `global` may be read, but not changed.
    change = api.send(key, "POST", f"/v1/memories/{shared}/deprecate", {})
    assert (change.status_code, change.json()["code"]) == (403, "foreign_scope")


def test_trust_is_that_of_the_key(api: Api, client: Handle, tenant: str) -> None:
    memory = on_tenant(client, tenant)
    seen = memory.observe("alice", "works_on", "Atlas")
    memory.reject(seen, reason="wrong")
    key = api.key(tenant, rights=ALL, trust="model")
    taken_back = {"target": seen.belief_id, "reason": "right"}
    found = api.send(key, "POST", "/v1/unreject", taken_back)
    assert (found.status_code, found.json()["code"]) in ((403, "person_only"), (409, "rejected"))
    person = api.key(tenant, rights=ALL)
    assert api.send(person, "POST", "/v1/unreject", taken_back).status_code == 200
