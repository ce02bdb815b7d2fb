"""How facts and labelled claims are read, made noisy and scored, on data made up here."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphmem.errors import ConfigurationError
from graphmem.model.belief import VerdictStatus
from graphmem.rules.formulas import Evidence
from research.beliefs import (
    datasets,
    figures,
    gate,
    labelled_cases,
    leaders,
    many_formula,
    metrics,
    one_formula,
    sprt_errors,
    streams,
    sweeps,
)
from research.beliefs.datasets import Claim, Labelled, Period, Slot
from research.beliefs.streams import EQUAL, STRONG, WEAK, Style


def _day(year: int, month: int = 1, day: int = 1) -> datetime:
    return datetime(year, month, day, tzinfo=UTC)


def _slot(*values: str) -> Slot:
    return Slot(
        "made up", "a", [Period(v, _day(2000 + n), _day(2001 + n)) for n, v in enumerate(values)]
    )


def _piece(number: int, claim: str, confidence: float = 0.8, polarity: int = 1) -> Evidence:
    at = _day(2020) + number * timedelta(days=1)
    return Evidence(f"{number:02d}", claim, polarity, confidence, 1.0, None, at)


def _rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# Loaders


def _dyknow(*answers: str) -> Slot:
    [slot] = datasets.dyknow({"countries": {"X": {"Head": {"answers": list(answers)}}}})
    return slot


def test_dyknow_slots_are_found_at_any_depth_and_sorted() -> None:
    slot = _dyknow(
        "Q |S: +2015-06-00T00:00:00Z", "P |S: +2010-00-00T00:00:00Z |E: +2015-03-02T00:00:00Z"
    )
    assert slot.name == "/countries/X/Head"
    assert slot.periods == [
        Period("P", _day(2010), _day(2015, 3, 2)),
        Period("Q", _day(2015, 6), _day(2015, 6) + datasets.YEAR),
    ]


@pytest.mark.parametrize(
    "answers",
    [
        ("P |S: +2010-01-01 |E: +2012-01-01", "Q |S: +2011-01-01"),
        ("P |S: +2010-01-01", "Q |S: +2010-01-01"),
        ("P |S: +2010-01-01 |E: +2009-01-01",),
    ],
)
def test_a_slot_with_overlapping_spells_has_none(answers: tuple[str, ...]) -> None:
    assert _dyknow(*answers).periods == []


def test_a_value_without_a_known_start_is_left_out() -> None:
    assert _dyknow("P |E: +2012-01-01").periods == []


def test_measured_values_hold_until_the_next_and_ties_are_dropped() -> None:
    lines = [
        "Q1\tP1082\t100\toccurSince\t1990",
        "Q1\tP1082\t100\toccurUntil\t1990",
        "Q1\tP1082\t200\toccurUntil\t2000",
        "Q1\tP1082\t7\toccurSince\t1995",
        "Q1\tP1082\t8\toccurSince\t1995",
        "Q1\tP166\tprize\toccurSince\t1995",
    ]
    [slot] = datasets.wikidata(lines)
    assert [(s.value, s.since, s.until) for s in slot.periods] == [
        ("100", _day(1990), _day(2000)),
        ("200", _day(2000), _day(2000) + datasets.YEAR),
    ]


def test_teams_need_both_ends() -> None:
    lines = [
        '<A>\t<playsFor>\t<X>\t<occursSince>\t"2001-##-##"',
        '<A>\t<playsFor>\t<X>\t<occursUntil>\t"2003-##-##"',
        '<A>\t<playsFor>\t<Y>\t<occursSince>\t"2004-##-##"',
        "<A>\t<playsFor>\t<Z>",
        '<A>\t<actedIn>\t<F>\t<occursSince>\t"2004-##-##"',
    ]
    [slot] = datasets.yago15k(lines)
    assert slot.periods == [Period("<X>", _day(2001), _day(2003))]


def test_yearly_facts_become_runs() -> None:
    relations = ["<isMarriedTo>\t4", "<playsFor>\t2"]
    lines = [f"1\t4\t{o}\t{year}\t0" for o, year in ((7, 100), (7, 101), (8, 110))]
    lines += ["1\t2\t9\t100\t0", "2\t4\t7\t100\t0", "2\t4\t8\t100\t0"]
    [slot] = datasets.yago(lines, relations)
    assert [(s.value, s.since) for s in slot.periods] == [("7", _day(1930)), ("8", _day(1940))]


def test_timeqa_periods_with_one_answer() -> None:
    def asked(text: str, *answers: str) -> list[Any]:
        return [text, [{"answer": a} for a in answers]]

    item = {
        "index": "/wiki/X#P1",
        "questions": [
            asked("Who led it from Mar 1990 to 1995?", "Ann"),
            asked("Who led it between 1995 and Feb 1999?", "Bob"),
            asked("Who led it from 2000 to 2001?", "Cid", "Dan"),
            asked("Who led it from 2001 to 2002?", ""),
            asked("Who leads it?", "Eve"),
        ],
    }
    [slot] = datasets.timeqa([item])
    assert slot.periods == [
        Period("ann", _day(1990, 3), _day(1995)),
        Period("bob", _day(1995), _day(1999, 2)),
    ]


def test_labelled_claims() -> None:
    rows = ["id,evidence,claim,label", "1,x,C ,Supports", "2,y,c,Refutes", "3,z,c,Neutral"]
    assert datasets.healthver(rows) == [Claim([Labelled(1), Labelled(-1)])]
    line = json.dumps(
        {
            "claim_label": "REFUTES",
            "evidences": [{"votes": ["REFUTES", "REFUTES", "SUPPORTS", "NOT_ENOUGH_INFO", None]}],
        }
    )
    assert datasets.climate_fever([line]) == [Claim([Labelled(-1, (-1, -1, 1, 0))], "REFUTES")]


def test_revisions_are_put_in_order() -> None:
    def line(unique: str, revision: str, label: str, claim: str = "c") -> str:
        return json.dumps(
            {
                "unique_id": unique,
                "wiki_revision_id": revision,
                "label": label,
                "claim": claim,
                "page": "p",
            }
        )

    lines = [
        line("b_2", "30", "REFUTES"),
        line("a_4", "9", "REFUTES"),
        line("a_3", "9", "SUPPORTS"),
        line("b_1", "30", "NOT ENOUGH INFO"),
        line("d_1", "30", "SUPPORTS", "only once"),
    ]
    [claim] = datasets.vitaminc(lines)
    assert [p.polarity for p in claim.pieces] == [1, -1, -1]


def test_data_folder_names_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRAPHMEM_DATA", str(tmp_path))
    with pytest.raises(ConfigurationError, match=r"dyknow/slots\.json") as caught:
        datasets.data_folder(None)
    assert "GRAPHMEM_DATA" in caught.value.hint


def test_data_folder_is_the_one_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRAPHMEM_DATA", "elsewhere")
    for name in datasets.FILES.values():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert datasets.data_folder(tmp_path) == tmp_path


# Streams and their noise


def test_a_clean_stream_tells_each_value_when_it_begins() -> None:
    pieces = streams.observations(_slot("a", "b"), _rng(), EQUAL)
    assert [(e.id, e.claim, e.at, e.confidence, e.weight) for e in pieces] == [
        ("00000", "a", _day(2000), 0.8, 1.0),
        ("00001", "b", _day(2001), 0.8, 1.0),
    ]


def test_repeats_come_while_the_value_holds_and_ends_speak_against_it() -> None:
    slot = _slot("a", "b")
    style = Style(repeats=4.0, ends=True)
    pieces = streams.observations(slot, _rng(), style)
    until = {s.value: s.until for s in slot.periods}
    assert all(e.at < until[e.claim] for e in pieces if e.polarity > 0)
    assert [(e.claim, e.at) for e in pieces if e.polarity < 0] == list(until.items())
    assert len(pieces) == 6
    assert [e.id for e in pieces] == sorted(e.id for e in pieces)
    assert all(0.6 <= e.confidence <= 0.95 for e in pieces)
    assert streams.observations(slot, _rng(), style) == pieces
    assert streams.observations(slot, _rng(1), style) != pieces


def test_the_last_value_has_a_style_of_its_own() -> None:
    slot = _slot("a", "b", "c")
    pieces = streams.with_last(slot, _rng(), STRONG, WEAK)
    assert [(e.claim, e.weight in WEAK.weights) for e in pieces] == [
        ("a", False),
        ("b", False),
        ("c", True),
    ]


def test_a_rumour_is_false_and_the_newest_piece_when_asked() -> None:
    slot = _slot("a", "b")
    pieces = streams.with_rumour(slot, _rng(), STRONG, WEAK)
    assert [e.claim for e in pieces[:-1]] == ["a", "b"]
    assert pieces[-1].claim != "b"
    assert pieces[-2].at < pieces[-1].at <= streams.asked_at(slot.periods[-1])
    assert len({e.id for e in pieces}) == 3


def test_a_tenth_is_false() -> None:
    slot = _slot("a", "b", "c")
    true = [_piece(n, "a") for n in range(5000)]
    pieces = streams.falsified(true, slot, 0.1, _rng(), confidence=(0.2, 0.5))
    false = [e for e in pieces if e.claim != "a"]
    assert len(false) == pytest.approx(500, abs=4 * math.sqrt(450))
    assert {e.claim for e in false} == {"b", "c", streams.NEVER_TRUE}
    assert all(0.2 <= e.confidence <= 0.5 for e in false)
    assert all(a == b for a, b in zip(true, pieces, strict=True) if b.claim == "a")


def test_false_pieces_look_like_true_ones_unless_said() -> None:
    true = [_piece(n, "a") for n in range(5)]
    pieces = streams.falsified(true, _slot("a"), 1.0, _rng())
    assert {(e.claim, e.confidence) for e in pieces} == {(streams.NEVER_TRUE, 0.8)}
    assert streams.falsified(true, _slot("a"), 0.0, _rng()) == true


def test_a_fifth_is_late() -> None:
    pieces = [_piece(n, "a") for n in range(5000)]
    at_once, late = streams.split_late(pieces, 0.2, _rng())
    assert len(late) == pytest.approx(1000, abs=4 * math.sqrt(800))
    assert sorted(at_once + late, key=lambda e: e.at) == pieces
    assert streams.split_late(pieces, 0.2, _rng()) == (at_once, late)


def test_shuffled_changes_the_order_alone() -> None:
    pieces = [_piece(n, "a") for n in range(20)]
    other = streams.shuffled(pieces, _rng())
    assert other != pieces
    assert sorted(other, key=lambda e: e.id) == pieces


# ONE


def test_simple_rules() -> None:
    a, a2, b, c = _piece(0, "a", 0.9), _piece(1, "a", 0.5), _piece(2, "b"), _piece(3, "c", 0.6)
    arrived = [c, a, a2, b]
    rules = {name: rule(arrived, _day(2021)) for name, rule in leaders.RULES.items()}
    assert rules == {
        "ONE": "c",
        "last by event time": "c",
        "last by arrival": "b",
        "majority": "a",
        "majority of last 3": "c",
        "most confident": "a",
    }
    assert {rule([], _day(2021)) for rule in leaders.RULES.values()} == {None}


def test_evidence_against_a_value_takes_a_vote_from_it() -> None:
    pieces = [_piece(0, "a"), _piece(1, "a"), _piece(2, "b"), _piece(3, "a", polarity=-1)]
    assert leaders.majority(pieces, _day(2021)) == "b"
    only_against = [_piece(0, "a", polarity=-1)]
    assert leaders.one_leader(only_against, _day(2021)) is None
    assert leaders.last_by_time(only_against, _day(2021)) is None


def test_questions_see_what_had_happened() -> None:
    scenario = one_formula.Scenario(
        "clean", lambda slot, rng: streams.observations(slot, rng, EQUAL)
    )
    asked = one_formula.questions([_slot("a", "b")], scenario)
    assert [(a.now, a.truth, len(a.seen)) for a in asked] == [(False, "a", 1), (True, "b", 2)]
    assert one_formula.share(asked, leaders.last_by_time) == 1.0
    assert one_formula.share(asked, lambda *_: "a") == 0.5


def test_scenarios_are_repeatable() -> None:
    slots = [_slot("a", "b", "a"), _slot("x", "y")]
    for scenario in one_formula.SCENARIOS:
        assert one_formula.questions(slots, scenario) == one_formula.questions(slots, scenario)


def test_overtaking_solves_its_equation() -> None:
    s = sweeps.overtaking(0.9, 2.0)
    assert s == pytest.approx(0.9 * math.exp(-2 * s), abs=1e-5)
    assert leaders.one_leader([_piece(0, "a", 0.9), _piece(1, "b", s + 0.01)], _day(2021)) == "b"
    assert leaders.one_leader([_piece(0, "a", 0.9), _piece(1, "b", s - 0.01)], _day(2021)) == "a"


# Metrics, against values worked out by hand


def test_brier_and_accuracy() -> None:
    assert metrics.brier([1.0, 0.6, 0.0], [1, 0, 1]) == pytest.approx(1.36 / 3)
    assert metrics.accuracy([0.9, 0.2, 0.1 + 0.2 + 0.2, 0.6], [1, 0, 1, 0]) == 2.5 / 4


def test_calibration_error() -> None:
    # Bins 0.2 (one of two true, mean 0.25) and 0.9 (both true, mean 0.95).
    p, true = [0.2, 0.3 - 1e-6, 0.9, 1.0], [1, 0, 1, 1]
    expected = (2 * abs(0.25 - 0.5) + 2 * abs(0.95 - 1)) / 4
    assert metrics.ece(p, true) == pytest.approx(expected, abs=1e-6)
    assert [n for *_, n in metrics.reliability(p, true)] == [2, 2]


def test_a_rounding_error_moves_no_probability_to_another_bin() -> None:
    assert len(metrics.reliability([0.5, 0.5 - 1e-12], [1, 0])) == 1


def test_interval_draws_whole_slots() -> None:
    assert metrics.interval([3, 3, 3], [3, 3, 3], 1) == (1.0, 1.0)
    low, high = metrics.interval([1] * 50 + [0] * 50, [1] * 100, 1)
    assert low == pytest.approx(0.40, abs=0.03)
    assert high == pytest.approx(0.60, abs=0.03)
    assert metrics.interval([10, 0], [10, 10], 1) == (0.0, 1.0)


def test_parts_and_ratios_of_nothing() -> None:
    assert (metrics.percent(1, 8), metrics.percent(0, 0)) == (12.5, None)
    assert (metrics.ratio(1, 3), metrics.ratio(1, 0)) == (0.333, None)
    assert metrics.span(0.9612, 0.97) == "96.1–97.0"


# MANY and the sequential test


def test_probabilities_of_a_small_case() -> None:
    seen = labelled_cases.evidence([(1, 0.6), (1, 0.6), (-1, 0.5)])
    found = {name: rule(seen) for name, rule in many_formula.FLIPPING.items()}
    assert found == pytest.approx(
        {
            "MANY, net": 0.84 - 0.5,
            "MANY, log_odds": 0.5 / 0.66,
            "MANY, (1 + P⁺ − P⁻) / 2": 0.67,
            "SPRT, ratio as odds": 16 / 19,
            "mean": (0.8 + 0.8 + 0.25) / 3,
            "share supporting": 2 / 3,
            "majority": 1.0,
            "rule of succession": 0.6,
            "MANY, log_odds, fading": (1 - 0.5)
            / (1 - 0.5 + (1 - 0.6 * math.exp(-1)) * (1 - 0.6 * math.exp(-2))),
            "ONE, claim against its opposite": 0.0,  # 0.6 * exp(-2 * 0.5) = 0.22 < 0.5
            "newest only": 0.0,
        }
    )


def test_halves_need_four_pieces_and_a_majority() -> None:
    many = Claim([Labelled(1)] * 5)
    cases = labelled_cases.halves([Claim([Labelled(1)] * 3), many])
    assert {(c.claim, len(c.seen), c.true) for c in cases} == {(1, 3, True)}
    assert len(cases) == labelled_cases.SPLITS
    tied = labelled_cases.halves([Claim([Labelled(1), Labelled(1), Labelled(-1), Labelled(-1)])])
    assert all(len({e.polarity for e in c.seen}) == 1 for c in tied)
    assert {(c.seen[0].polarity > 0) is not c.true for c in tied} == {True}


def test_votes_become_confidence() -> None:
    claim = Claim([Labelled(1, (1, 1, 0, -1)), Labelled(0, (1, -1))], "SUPPORTS")
    [case] = labelled_cases.voted([claim, Claim([Labelled(1, (1,))], "DISPUTED")])
    assert [(e.polarity, e.confidence) for e in case.seen] == [(1, 0.25)]
    assert case.true


def test_one_annotator_is_judged_by_the_others() -> None:
    cases = labelled_cases.one_annotator([Claim([Labelled(1, (1, 1, 1))])])
    assert {(c.seen[0].polarity, c.true) for c in cases} == {(1, True)}
    alone = labelled_cases.one_annotator([Claim([Labelled(1, (1,))])])
    assert alone == []


def test_a_fifth_of_the_readings_is_wrong() -> None:
    cases = labelled_cases.misread([Claim([Labelled(-1), Labelled(1)])] * 1000)
    polarities = np.array([[e.polarity for e in c.seen] for c in cases])
    assert all(c.true for c in cases)
    wrong = np.mean(polarities != np.repeat([-1, 1], labelled_cases.READINGS))
    assert wrong == pytest.approx(0.2, abs=4 * math.sqrt(0.16 / polarities.size))
    assert len({e.at for e in cases[0].seen}) == 2


def test_a_table_of_rules_has_ratios() -> None:
    cases = labelled_cases.halves([Claim([Labelled(1)] * 6), Claim([Labelled(-1)] * 6)])
    rows = {row["rule"]: row for row in many_formula.scored("x", cases, many_formula.RULES).rows}
    assert rows["majority"]["accuracy"] == 100.0
    assert rows["majority"]["Brier / mean's"] == 0.0
    assert rows["mean"]["Brier"] == pytest.approx(0.15**2, abs=0.0006)
    assert rows["mean"]["claims"] == 2


def test_simulated_evidence_is_as_reliable_as_said() -> None:
    setup = sprt_errors.Setup(0.7, 0.85, echoes=2.0)
    rng = _rng(1)
    trials = [sprt_errors.simulated(setup, rng, true=False) for _ in range(40)]
    assert {e.strength for t in trials for e in t} == {0.85}
    episodes = 40 * sprt_errors.EPISODES
    against = sum(len({e.episode for e in t if e.polarity < 0}) for t in trials)
    assert against / episodes == pytest.approx(0.7, abs=4 * math.sqrt(0.21 / episodes))
    assert sum(map(len, trials)) / episodes == pytest.approx(3, abs=4 * math.sqrt(2 / episodes))
    assert all(len({e.polarity for e in t if e.episode == "0"}) == 1 for t in trials)


def test_the_first_boundary_crossed_is_the_verdict() -> None:
    setup = sprt_errors.Setup(1.0, 0.85, echoes=2.0)
    pieces = sprt_errors.simulated(setup, _rng(), true=True)
    pooled = sprt_errors.outcome(pieces, pooled=True)
    assert pooled.first is VerdictStatus.PROMOTED
    assert pooled.ever == {VerdictStatus.PROMOTED}
    assert pooled.episodes == 2  # 2 * ln(0.85 / 0.15) = 3.47 >= 2.89
    assert sprt_errors.outcome(pieces, pooled=False).episodes <= 2


def test_no_boundary_crossed() -> None:
    pieces = sprt_errors.simulated(sprt_errors.Setup(1.0, 0.5), _rng(), true=True)
    found = sprt_errors.outcome(pieces, pooled=False)
    assert found == sprt_errors.Outcome(
        VerdictStatus.ACCUMULATING, frozenset(), sprt_errors.EPISODES
    )


# Figures


def test_figures_are_the_same_bytes_again(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    shares = dict.fromkeys(leaders.RULES, 50.0)
    swept = dict.fromkeys(sweeps.SWEPT, 50.0)
    flagged = {"flagged of the right": 1.0, "flagged of the wrong": 2.0}
    error = {"false promotions": 1.0, "promotions ±": 0.1}
    error |= {"false demotions": 1.0, "demotions ±": 0.1}
    tables: dict[str, list[dict[str, Any]]] = {
        "ONE, now": [{"scenario": "s", **shares}],
        "ONE, sweep of kappa": [{"kappa": 1.0, **swept}, {"kappa": "last", **swept}],
        "ONE, sweep of tau": [{"tau days": "infinite", **swept}, {"tau days": "last", **swept}],
        "ONE, sweep of the margin": [
            {"scenario": s, "kappa": 2.0, "margin": 0.1, **flagged} for s in sweeps.FLAGGED
        ],
        "SPRT, simulated evidence": [
            {"reliability": 0.7, "strength": 0.8, "pieces an episode": 3, "pooled": True, **error}
        ],
    }
    curves = {"set": {"rule": [(0.1, 0.2, 3)]}}
    first = figures.draw(tmp_path / "one", tables, curves)
    second = figures.draw(tmp_path / "two", tables, curves)
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in second]
    assert all(p.read_bytes().startswith(b"<?xml") for p in first)


def test_the_gate_of_a_simulated_belief_by_hand() -> None:
    """Three episodes of w 0.5 and c 0.75 leave e^(1.5 ln 0.25) = 1/8: a belief of 8/9."""
    young = gate.case(3, 7.0, [(1.0, 0.8)])
    assert young.prior == pytest.approx(8 / 9)
    assert young.contradiction == pytest.approx(0.8)
    assert (young.known, young.age) == (3, 7.0)
    error, wanted = 0.8 * 8 / 9, math.log(4) * math.log(8)
    assert young.is_flagged((error - 1e-6) / wanted, 1.0)
    assert not young.is_flagged((error + 1e-6) / wanted, 1.0)
    assert young.is_flagged(1.0, error - 1e-6)
    echo = gate.case(3, 7.0, [(0.5, 0.75)] * 2)
    assert echo.contradiction == pytest.approx(0.75)
    found = gate.groups(gate.Pairs([(0.6, 30.0)], [0.8]), reversals=5)
    assert {name: len(of) for name, of in found.items()} == {
        "BEAM changes, inferred once": 4,
        "BEAM changes, inferred 3 times": 4,
        "BEAM changes, inferred 8 times": 4,
        "BEAM changes, stated once": 4,
        "VitaminC reversals, inferred once": 5,
        "VitaminC reversals, inferred 3 times": 5,
        "VitaminC reversals, inferred 8 times": 5,
        "BEAM strays, old belief": 6,
        "VitaminC, one weak contradiction of an old belief": 5,
    }
