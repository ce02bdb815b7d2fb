"""`graphmem why`: the arithmetic as people read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphmem import GraphMem
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder

Run = Callable[..., Any]

DAYS = [f"2025-05-{day:02}T09:00:00Z" for day in range(1, 10)]


def observed(run: Run, what: str, at: str, *options: str) -> dict[str, str]:
    done = run("belief", "observe", *what.split(), "--at", at, "--json", *options)
    assert done.code == 0
    data: dict[str, str] = done.data
    return data


def test_the_sum_of_a_many_belief_is_shown(run: Run) -> None:
    first = observed(run, "alice likes tea", DAYS[0], "--confidence", "0.8", "--note", "at lunch")
    observed(run, "alice likes tea", DAYS[1], "--confidence", "0.6", "--source-type", "RULE")
    observed(run, "alice likes tea", DAYS[2], "--confidence", "0.5", "--kind", "refuting")
    shown = run("why", first["belief_id"]).out
    assert "read as MANY, log_odds (the default)" in shown
    assert "for      L+ = −(1.609 + 0.733) = −2.342   P+ = 1 − e^L+ = 0.9039" in shown
    assert "against  L− = −0.693   P− = 1 − e^L− = 0.5000" in shown
    assert "belief   1 / (1 + e^(−2.342 − (−0.693))) = 0.8388" in shown
    assert "test     +2.197 +1.046 −1.099 = +2.145: promoted" in shown
    row = next(line for line in shown.splitlines() if line.startswith("1 "))
    assert row.split() == [
        *("1", "2025-05-01", "09:00", "+", "1.0", "0.80", "1.609"),
        *("0.90", "+2.197", "+2.197", "accumulating"),
    ]
    assert f"#1  {first['event_id']}  EXPLICIT  at lunch" in shown

    net = run("predicate", "declare", "likes", "--combine", "net", "--decay-per-day", "0.1")
    assert net.code == 0
    faded = run("why", first["belief_id"], "--valid", DAYS[2]).out
    assert "belief   max(0, " in faded
    assert "faded" in faded


def test_the_words_of_evidence_are_shown(run: Run, migrated: Settings, tenant: str) -> None:
    words = "I like tea,\nand " + "really " * 40 + "so."
    with GraphMem.open(settings=migrated, embedder=HashEmbedder()) as opened:
        session = opened.tenant(tenant).session("monday")
        [turn] = session.add_messages([{"role": "user", "content": words}]).turn_ids
    seen = observed(run, "alice likes tea", DAYS[0], "--turn-id", turn)
    lines = run("why", seen["belief_id"]).out.splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("#1"))
    assert lines[place + 1].strip().startswith('"I like tea, and really really')
    assert "…" in "".join(lines[place + 1 :])


def test_the_product_of_a_one_value_is_shown(run: Run) -> None:
    run(
        "predicate",
        "declare",
        "works_on",
        "--cardinality",
        "ONE",
        "--decay-per-day",
        "0.001",
        "--at",
        DAYS[0],
    )
    old = observed(run, "alice works_on Borealis", DAYS[1], "--confidence", "0.8")
    observed(run, "alice works_on Borealis", DAYS[2], "--confidence", "0.5", "--kind", "refuting")
    new = observed(run, "alice works_on Atlas", DAYS[3], "--confidence", "0.1")
    shown = run("why", old["belief_id"], "--valid", DAYS[4]).out
    assert "belief   0.8000 × 0.5000 × e^(−3 × 0.1000) × 0.9970 (faded) = 0.2954" in shown
    assert "place 1 of 2" in shown
    assert "refuted since by 1 piece; others affirmed since 1 time: Atlas (1)" in shown
    assert "last affirmation" in shown
    assert "declared 1 May 2025 by" in shown
    plain = run("why", new["belief_id"], "--valid", DAYS[3]).out
    assert "belief   0.1000 × 1.0000 (faded) = 0.1000   place 2 of 2" in plain
    never = observed(run, "alice works_on Cygnus", DAYS[4], "--kind", "refuting")
    assert "belief   0: never affirmed; place 3 of 3" in run("why", never["belief_id"]).out


def test_an_echo_is_shown_as_such(run: Run, migrated: Settings, tenant: str) -> None:
    with GraphMem.open(settings=migrated, embedder=HashEmbedder()) as opened:
        opened.tenant(tenant).episodes.add(episode_id="monday")
    done = observed(
        run, "alice likes tea", DAYS[0], "--confidence", "0.5", "--episode-id", "monday"
    )
    observed(run, "alice likes tea", DAYS[1], "--confidence", "0.9", "--episode-id", "monday")
    rows = run("why", done["belief_id"]).out.splitlines()
    assert "(0.693)" in next(row for row in rows if row.startswith("1 "))
    assert "echo of #2" in next(row for row in rows if row.startswith("#1"))
    assert any(row.startswith("for      L+ = −2.303   P+") for row in rows)
    assert "episode monday" in next(row for row in rows if row.startswith("#1"))


def test_what_was_taken_back_is_shown_with_its_retraction(run: Run) -> None:
    done = observed(run, "alice likes tea", DAYS[0], "--confidence", "0.9")
    observed(run, "alice likes tea", DAYS[1], "--confidence", "0.5")
    undo = run("belief", "retract", done["event_id"], "--note", "misheard", "--json").data
    shown = run("why", done["belief_id"]).out
    assert f"retracted: + EXPLICIT 0.90 of 1 May 2025, {done['event_id']}" in shown
    assert f"by {undo['event_id']}: misheard" in shown


def test_a_page_of_pieces_says_so(run: Run) -> None:
    [done, *_] = [observed(run, "alice likes tea", day) for day in DAYS]
    cursor = run("why", done["belief_id"], "--limit", "2", "--json").data["next_cursor"]
    shown = run("why", done["belief_id"], "--cursor", cursor, "--limit", "3").out
    assert "pieces 3 to 5 of 9; the sums include all of them" in shown
    assert "for      L+ = −14.485" in shown
    assert f"#5  {run('why', done['belief_id'], '--json').data['pieces'][4]['event_id']}" in shown


def test_a_hypothesis_names_what_stands_in_its_place(run: Run) -> None:
    old = run("belief", "believe", "It will rain", "--json").data["belief_id"]
    assert "belief   0.5000, the confidence before any evidence" in run("why", old).out
    done = run("belief", "revise", old, "It will snow", "--reason", "colder", "--json").data
    assert f"replaced by It will snow ({done['newer_ids'][0][:6]}) since" in run("why", old).out
    assert f"replaces It will rain ({old[:6]}) since" in run("why", done["newer_ids"][0]).out


def test_a_memory_is_told_by_its_events(run: Run) -> None:
    old = run("memory", "remember", "The limit is 100 requests.", "--json").data["memory_id"]
    run("memory", "supersede", old, "The limit is 200 requests.", "--reason", "load test")
    shown = run("why", old).out
    assert "○ The limit is 100 requests." in shown
    assert "load test" in shown
    assert "The limit is 100 requests. → The limit is 200 requests." in shown
    assert run("why", old, "--json").data["memory"]["id"] == old


def test_the_trace_of_a_memory_is_told_saying_by_saying(run: Run) -> None:
    for _ in range(3):
        memory_id = run("memory", "remember", "The limit is 100 requests.", "--json").data[
            "memory_id"
        ]
    shown = run("why", memory_id, "--limit", "2").out
    assert [line.split()[2:] for line in shown.splitlines() if "1.000" in line][:2] == [
        ["1.000", "0.100", "1.000", "0.100"],
        ["1.000", "0.010", "1.000", "0.010"],
    ]
    assert "trace 1.110, 1 older not shown: recall multiplies the similarity by 1.261" in shown
    trace = run("why", memory_id, "--json").data["trace"]
    assert len(trace["sayings"]) == trace["total"] == 3
    hit = run("recall", "limit", "--policy", "trace")
    assert "trace 1.11" in hit.out
    refused = run("recall", "limit", "--policy", "best")
    assert refused.code == 2
    assert "'default', 'flat', 'trace'" in refused.err
