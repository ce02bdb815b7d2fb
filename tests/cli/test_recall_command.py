"""`graphmem recall`: among what, as of when, and how it looks."""

from __future__ import annotations

from tests.cli.conftest import Run
from tests.plugins.graph import fresh_tenant

NOON = "the deploy window opens at noon"
NINE = "the deploy window opens at nine"


def ids(run: Run, *options: str) -> set[str]:
    bites = run("recall", "deploy", "window", *options, "--json").data["bites"]
    return {bite[bite["kind"]]["id"] for bite in bites}


def test_recall_is_narrowed_and_asked_of_the_past(run: Run) -> None:
    tenant_scope = ("--tenant", "narrowed", "--scope", "alice")
    noon, nine = (
        run("memory", "remember", text, *tenant_scope, *options, "--json").data["memory_id"]
        for text, *options in (
            (NOON, "--tag", "ops", "--at", "2025-05-05T00:00Z", "--source", "wiki"),
            (NINE, "--tag", "ops", "--tag", "new", "--at", "2025-06-06T00:00Z"),
        )
    )
    assert ids(run, *tenant_scope) == {noon, nine}
    assert ids(run, *tenant_scope, "--tag", "ops", "--tag", "new") == {nine}
    assert ids(run, *tenant_scope, "--source", "wiki") == {noon}
    assert ids(run, *tenant_scope, "--since", "2025-06-01T00:00Z") == {nine}
    assert ids(run, *tenant_scope, "--until", "2025-06-01T00:00Z") == {noon}
    assert ids(run, *tenant_scope, "--valid", "2025-06-01T00:00Z") == {noon}
    assert ids(run, *tenant_scope, "--known", "2025-06-01T00:00Z") == set()
    assert ids(run, *tenant_scope, "--read-scope", "global") == set()
    assert ids(run, *tenant_scope, "--read-scope", "alice", "--read-scope", "global") == {
        noon,
        nine,
    }
    refused = run("recall", "deploy", *tenant_scope, "--read-scope", "bob")
    assert refused.code == 2
    assert "'bob' must be a read scope" in refused.err


def test_a_belief_is_shown_with_its_worth_and_what_it_took_the_place_of(run: Run) -> None:
    tenant_scope = ("--tenant", fresh_tenant())
    run("predicate", "declare", "lives_in", "--cardinality", "ONE", *tenant_scope)
    for city, day, confidence in (("Madrid", "2025-02-03", "0.8"), ("Lisbon", "2025-03-03", "0.9")):
        at = ("--at", f"{day}T00:00Z", "--confidence", confidence)
        run("belief", "observe", "alice", "lives_in", city, *at, *tenant_scope)

    shown = run("recall", "Where", "does", "Alice", "live?", *tenant_scope).out

    [first, score, other, *more] = shown.splitlines()
    assert "1 ● alice lives in Lisbon   0.9" in first
    assert "accumulating   1 episode for, newest 3 Mar 2025" in first
    assert "score" in score
    assert "was Madrid, last stated 3 Feb 2025" in other
    assert "why: graphmem why b_" in other
    assert not more
    hidden = run("recall", "Where", "does", "Alice", "live?", "--include-hidden", *tenant_scope).out
    assert "○ alice lives in Madrid" in hidden
    assert "now: b_" in hidden


def test_an_older_version_is_shown_after_the_newer_one(run: Run) -> None:
    tenant_scope = ("--tenant", fresh_tenant())
    older, newer = (
        run("memory", "remember", text, "--at", at, *tenant_scope, "--json").data["memory_id"]
        for text, at in (
            ("The deploy quota is 30 runs.", "2025-05-05T00:00Z"),
            ("The deploy quota is 45 runs.", "2025-06-05T00:00Z"),
        )
    )
    shown = run("recall", "deploy", "quota", *tenant_scope).out.splitlines()
    assert "45 runs" in shown[0]
    assert shown[-1].strip() == f"outdated by: {newer[:6]}"
    for shown in (newer, newer[:6]):
        assert run("why", shown, *tenant_scope, "--json").data["memory"]["id"] == newer
    packed = run("context", "deploy", "quota", *tenant_scope).out
    state = f"outdated, now [{newer[:6]}], 5 May 2025"
    assert f'[{older[:6]}] {state}: "The deploy quota is 30 runs."' in packed
