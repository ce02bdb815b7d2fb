"""`graphmem belief`: evidence in, beliefs out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

MONDAY, FRIDAY = "2025-05-05T09:00:00Z", "2025-05-09T09:00:00Z"


def moved(run: Run) -> dict[str, str]:
    """Alice worked on Borealis, then on Atlas; return both beliefs by their object."""
    assert run("predicate", "declare", "works_on", "--cardinality", "ONE", "--at", MONDAY).code == 0
    seen = {"Borealis": ("0.8", MONDAY), "Atlas": ("0.9", FRIDAY)}
    return {
        project: run(
            *("belief", "observe", "alice", "works_on", project),
            *("--confidence", confidence, "--at", at, "--json"),
        ).data["belief_id"]
        for project, (confidence, at) in seen.items()
    }


def test_what_is_observed_is_what_is_current(run: Run) -> None:
    ids = moved(run)
    slot = run("belief", "current", "Alice", "works_on", "--json").data
    assert [c["belief_id"] for c in slot["candidates"]] == [ids["Atlas"], ids["Borealis"]]
    then = run("belief", "current", "alice", "works_on", "--valid", MONDAY, "--json").data
    assert [c["object"] for c in then["candidates"]] == ["Borealis"]
    before = ("--known", "2020-01-01T00:00:00Z")
    assert not run("belief", "current", "alice", "works_on", *before, "--json").data["candidates"]


def test_people_see_the_leader_first_with_its_verdict(run: Run) -> None:
    ids = moved(run)
    shown = run("belief", "current", "alice", "works_on").out.splitlines()
    assert shown[0].startswith("alice works_on")
    assert "ONE, κ 3" in shown[0]
    first, second = shown[1].split(), shown[2].split()
    assert first[:5] == ["1", "●", "Atlas", "0.90", "accumulating"]
    assert second[:3] == ["2", "○", "Borealis"]
    assert "newest 9 May 2025" in shown[1]
    assert shown[3] == f"why: graphmem why {ids['Atlas'][:6]}"
    assert "No beliefs about" in run("belief", "current", "bob", "works_on").out


def test_a_tie_is_said_to_be_one(run: Run) -> None:
    run("predicate", "declare", "works_on", "--cardinality", "ONE", "--kappa", "0")
    for project in ("Borealis", "Atlas"):
        run("belief", "observe", "alice", "works_on", project)
    assert "too close to call" in run("belief", "current", "alice", "works_on").out


def test_evidence_counts_by_its_kind_and_source(run: Run) -> None:
    seen = ("belief", "observe", "alice", "likes", "tea", "--json")
    done = run(*seen, "--confidence", "0.6", "--source-type", "RULE", "--note", "said so").data
    run(*seen, "--confidence", "0.5", "--kind", "refuting")
    piece, against = run("why", done["belief_id"], "--json").data["pieces"]
    assert (piece["weight"], piece["confidence"], piece["note"]) == (0.8, 0.6, "said so")
    assert (piece["kind"], against["kind"]) == ("supporting", "refuting")
    again = run(*seen, "--event-id", "e1", "--at", MONDAY)
    assert (again.code, again.data["repeated"]) == (0, False)
    assert run(*seen, "--event-id", "e1", "--at", MONDAY).data["repeated"] is True
    assert run(*seen, "--event-id", "e1", "--at", FRIDAY).code == 1


def test_a_hypothesis_is_tested_and_revised(run: Run) -> None:
    said = ("The pool should have 4 threads", "--confidence", "0.6", "--at", MONDAY)
    old = run("belief", "believe", *said, "--json").data["belief_id"]
    ratios = []
    for _ in range(3):
        done = run("belief", "add-evidence", old, "refuting", "0.85", "--json").data
        ratios.append((round(done["verdict"]["log_ratio"], 4), done["verdict"]["status"]))
    assert ratios == [(-1.7346, "accumulating"), (-3.4692, "demoted"), (-5.2038, "demoted")]

    trail = run("belief", "evidence-for", old, "--json").data
    assert [round(line["confidence"], 2) for line in trail["lines"]] == [0.6, 0.4, 0.4]
    shown = run("belief", "evidence-for", old).out
    assert "log ratio −5.204: demoted  revise due; confidence 0.60 → 0.40" in shown
    assert trail["lines"][0]["event_id"] in shown
    assert "to promote it: 8.094 more, at least 4 strong pieces" in shown

    strong = ("--supporting", "0.9") * 4
    supposed = run("belief", "what-if", old, *strong, "--json").data
    assert supposed["verdict"]["status"] == "promoted"
    left = run("belief", "what-if", old, "--without", trail["lines"][0]["event_id"], "--json")
    assert round(left.data["verdict"]["log_ratio"], 4) == -3.4692
    assert len(run("belief", "evidence-for", old, "--json").data["lines"]) == 3

    change = ("The pool should have 8 threads", "--reason", "queue grew at 4")
    new = run("belief", "revise", old, *change, "--json").data["newer_ids"][0]
    listed = run("belief", "list", "--json").data["beliefs"]
    assert [b["id"] for b in listed] == [new]
    hidden = run("belief", "list", "--include-superseded").out
    assert "○ The pool should have 4 threads" in hidden
    assert "revise due  superseded" in hidden
    assert run("belief", "revise", old, "Again").code == 1


def test_a_strength_that_is_odd_is_said_to_be(run: Run) -> None:
    belief = run("belief", "believe", "It will rain", "--json").data["belief_id"]
    assert "counted with strength 0.9" in run("belief", "add-evidence", belief, "refuting", "3").out
    assert (
        "counts as evidence of the other kind"
        in run("belief", "add-evidence", belief, "supporting", "0.3").out
    )


def test_evidence_is_taken_back(run: Run) -> None:
    done = run("belief", "observe", "alice", "likes", "tea", "--json").data
    shown = run("belief", "retract", done["event_id"], "--note", "misheard").out
    assert f"{done['event_id']} is retracted by" in shown
    assert "misheard" in run("why", done["belief_id"]).out
    slot = run("belief", "current", "alice", "likes", "--json").data
    assert slot["candidates"] == []
    refused = run("belief", "retract", "e-late")
    assert (refused.code, "No evidence or declaration 'e-late'" in refused.err) == (1, True)


def test_beliefs_are_split_and_merged(run: Run) -> None:
    wide = run("belief", "believe", "Tea and coffee are cheap", "--json").data["belief_id"]
    parts = run("belief", "split", wide, "Tea is cheap", "Coffee is cheap", "--json").data
    assert len(parts["newer_ids"]) == 2
    done = run("belief", "merge", *parts["newer_ids"], "--into", "Hot drinks are cheap", "--json")
    assert set(done.data["older_ids"]) == set(parts["newer_ids"])
    listed = run("belief", "list", "--json").data["beliefs"]
    assert [b["statement"] for b in listed] == ["Hot drinks are cheap"]
    assert " replaces" in run("belief", "revise", listed[0]["id"], "Drinks are cheap").out


def test_a_predicate_is_declared_and_shown(run: Run) -> None:
    assert "No policy is declared; default: MANY, log_odds" in run("predicate", "list").out
    options = (
        "--cardinality",
        "ONE",
        "--tau-days",
        "30",
        "--margin",
        "0.2",
        "--decay-per-day",
        "0.01",
    )
    template = ("--template", "{subject} lives in {object}")
    done = run("predicate", "declare", "lives_in", *options, *template, "--json").data
    assert done["policy"]["tau_days"] == 30
    run("predicate", "declare", "likes", "--cardinality", "MANY", "--combine", "net")
    listed = run("predicate", "list", "--json").data
    assert [one["name"] for one in listed] == ["likes", "lives_in"]
    assert listed[1] == done
    both = run("predicate", "list").out
    assert "ONE, κ 3, τ 30 days, margin 0.2, decay 0.01 a day" in both
    assert "MANY, net" in both
    assert "{subject} lives in {object}" in both


def test_a_belief_is_shown_in_full(run: Run) -> None:
    ids = moved(run)
    shown = run("belief", "get", ids["Borealis"]).out
    for words in (
        "● alice works on Borealis",
        "P+ 0.8000, 1 episode",
        f"why {ids['Borealis'][:6]} ",
    ):
        assert words in shown
    assert run("belief", "get", ids["Borealis"], "--json").data["id"] == ids["Borealis"]


def test_a_file_is_imported_once(run: Run, tmp_path: Path) -> None:
    lines = [{"subject": "alice", "predicate": "likes", "object": f"tea {n}"} for n in range(700)]
    file = tmp_path / "seen.jsonl"
    file.write_text("\n\n".join(json.dumps(line) for line in [*lines, lines[0]]) + "\n")
    counts = run("belief", "import", str(file), "--json").data
    assert counts == {"lines": 701, "recorded": 700, "repeated": 1, "beliefs": 700}
    # The order of the fields is no content; what an interrupted run kept is known again.
    file.write_text(
        "\n".join(
            json.dumps(dict(reversed([*line.items(), ("confidence", 0.8)]))) for line in lines[:2]
        )
        + "\n"
        + "\n".join(json.dumps(dict(reversed(line.items()))) for line in lines[:3])
    )
    counts = run("belief", "import", str(file), "--json").data
    assert (counts["recorded"], counts["repeated"]) == (2, 3)
    other = run("belief", "import", str(file), "--scope", "user:bob", "--json")
    assert other.data["recorded"] == 5
    assert "about 3 beliefs" in run("belief", "import", str(file)).out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"subject": "a", "predicate": "p", "object": "o"}\nno json', "line 2: not valid JSON"),
        ('["a", "p", "o"]', "line 1: must be a JSON object"),
        ('{"subject": "a", "predicate": "p"}', "line 1: object"),
        ('{"subject": "a", "predicate": "p", "object": "o", "colour": 1}', "colour"),
        ('{"subject": "a", "predicate": "p", "object": "o", "confidence": NaN}', "confidence"),
        ('{"subject": "a", "predicate": "p", "object": "o", "source_type": "GUESS"}', "GUESS"),
        ("\udcff", "UTF-8"),
    ],
)
def test_a_line_that_does_not_fit_is_named(run: Run, tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "seen.jsonl"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    ended = run("belief", "import", str(file))
    assert ended.code == 2
    assert said in ended.err
    assert run("belief", "list", "--json").data["beliefs"] == []


def test_slots_are_listed_with_their_best_value(run: Run) -> None:
    moved(run)
    run("belief", "observe", "alice", "likes", "tea")
    shown = run("belief", "slots", "alice").out.splitlines()
    assert shown[1].split()[:4] == ["alice", "likes", "tea", "0.83"]
    assert shown[2].split()[:5] == ["alice", "works_on", "Atlas", "0.90", "Borealis"]
    page = run("belief", "slots", "--limit", "1", "--json").data
    assert [slot["predicate"] for slot in page["slots"]] == ["likes"]
    more = run("belief", "slots", "--limit", "1", "--cursor", page["next_cursor"], "--json").data
    assert [slot["predicate"] for slot in more["slots"]] == ["works_on"]
    assert "No slots." in run("belief", "slots", "nobody").out


def test_a_flip_set_names_the_evidence_that_decides(run: Run) -> None:
    held = run("belief", "believe", "The pool should have 4 threads", "--json").data["belief_id"]
    ids = [
        run("belief", "add-evidence", held, "refuting", "0.85", "--json").data["recorded"][
            "event_id"
        ]
        for _ in range(2)
    ]
    found = run("belief", "flip-set", held, "--json").data
    assert (found["status"], found["becomes"], len(found["event_ids"])) == (
        "demoted",
        "accumulating",
        1,
    )
    assert set(found["event_ids"]) <= set(ids)
    assert (
        "demoted; without 1 of 2 pieces the test is accumulating:"
        in run("belief", "flip-set", held).out
    )
    fresh = run("belief", "believe", "It rains", "--json").data["belief_id"]
    assert "even without any of 0 pieces" in run("belief", "flip-set", fresh).out


def test_a_chain_leads_to_what_is_believed_now(run: Run) -> None:
    old = run("belief", "believe", "The pool should have 4 threads", "--json").data["belief_id"]
    new = run("belief", "revise", old, "The pool should have 8 threads", "--json").data
    found = run("belief", "chain", old, "--json").data
    assert found["head_ids"] == new["newer_ids"]
    shown = run("belief", "chain", old).out
    assert "● The pool should have 8 threads" in shown
    assert f"by {new['newer_ids'][0][:6]}\n" in shown


def test_derived_values_are_in_json(run: Run) -> None:
    run("predicate", "declare", "lives_in", "--cardinality", "ONE")
    for city in ("Lisbon", "Porto"):
        run("belief", "observe", "alice", "lives_in", city, "--confidence", "0.9")
    slot = run("belief", "current", "alice", "lives_in", "--json").data
    assert slot["leader"] == slot["candidates"][0]
    assert slot["leader"]["object"] == "Porto"
    assert slot["ambiguous"] is False
    done = run("belief", "observe", "alice", "likes", "tea", "--json")
    [many] = run("belief", "current", "alice", "likes", "--json").data["candidates"]
    assert many["reinforcement_count"] == many["supporting_episodes"] == 1
    belief_id = done.data["belief_id"]
    assert run("belief", "get", belief_id, "--json").data["verdict"]["revise_due"] is False
    for _ in range(3):
        refuted = run("belief", "add-evidence", belief_id, "refuting", "0.9", "--json").data
    assert refuted["verdict"]["revise_due"] is True
    found = run("recall", "alice", "likes", "tea", "--include-hidden", "--json").data["bites"]
    [bite] = [one for one in found if one["id"] == belief_id]
    assert bite["text"] == bite["belief"]["statement"]
    assert bite["revise_due"] is bite["belief"]["verdict"]["revise_due"] is True
    why = run("why", belief_id, "--json").data
    assert [piece["counts"] for piece in why["pieces"]] == [True] * 4
    nothing = run("recall", "zzz", "--min-score", "1", "--json").data
    assert nothing["reason"] != ""
    forgotten = run("memory", "forget", "belief", belief_id, "--apply", "--json").data
    assert forgotten["clean"] is True


def test_the_history_and_the_provenance_of_a_belief(run: Run) -> None:
    belief_id = moved(run)["Borealis"]
    events = run("belief", "history", belief_id, "--json").data
    assert [event["type"] for event in events][-1] == "EVIDENCE"
    shown = run("belief", "history", belief_id).out
    assert events[-1]["id"] in shown
    found = run("belief", "provenance", belief_id, "--json").data
    assert found["belief"]["id"] == belief_id
    assert "alice works on Borealis" in run("belief", "provenance", belief_id).out
    assert run("belief", "history", "b_nope").code == 1


def test_the_cardinality_of_a_slot_is_shown_with_its_reason(run: Run) -> None:
    for day, source in enumerate(("Borealis", "Borealis", "Atlas"), 1):
        at = f"2025-0{day}-10T09:00:00Z"
        assert run("belief", "observe", "billing", "deploys from", source, "--at", at).code == 0
    now = run("belief", "current", "billing", "deploys_from")
    assert "● Atlas" in " ".join(now.out.split())
    assert "ONE, κ 3, τ ∞, margin 0.1 (built-in list)" in now.out
    then = ("--valid", "2025-02-20T00:00:00Z")
    assert "● Borealis" in " ".join(
        run("belief", "current", "billing", "deploys-from", *then).out.split()
    )
    data = run("belief", "current", "billing", "deploys_from", "--json").data
    assert (data["policy"]["cardinality"], data["policy_origin"]) == ("ONE", "built_in")
    miss = run("belief", "current", "billing", "deploy from")
    assert "Nearest: deploys from." in miss.out

    one = ("belief", "observe", "billing", "paged_by", "Ada", "--cardinality")
    assert run(*one, "ONE").code == 0
    assert "(declared in global)" in run("belief", "current", "billing", "paged by").out
    refused = run(*one, "MANY", "--json")
    assert (refused.code, "cardinality_conflict" in refused.err) == (1, True)
