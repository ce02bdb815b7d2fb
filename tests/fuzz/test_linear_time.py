"""No pattern of the package takes more than linear time, whatever the text."""

from __future__ import annotations

import re
from functools import lru_cache

import pytest

from graphmem.extraction import quotes
from graphmem.extraction.proposals import CheckContext, check_proposals
from graphmem.extraction.sentences import parse_window
from tests.plugins import pumps
from tests.plugins.examples import is_deep
from tests.plugins.sayings import read_together, turn

USED = sorted(pumps.used(pumps.modules()), key=lambda one: (one.place, one.method))
SIZES = pumps.SIZES if is_deep() else (24, 256, 4_096)
HOSTILE = (
    "I live in",
    " ",
    "I live in x",
    "-aa",
    "a ",
    "my a",
    ", and I",
    "since a",
    "!",
    "x" * 2_000,
)


def test_patterns_are_found() -> None:
    assert len(USED) > 100
    assert "graphmem.extraction.sentences._FORMS" in {one.place for one in USED}


@pytest.mark.parametrize(
    "pattern", [r"(?:a+)+b", r"\s+\S+?(?:,\s+x)?\s*$", r"(\w+\s?)*!", r"a*a*a*b"]
)
def test_a_pattern_that_is_not_linear_is_noticed(pattern: str) -> None:
    one = pumps.Used("here", re.compile(pattern), "finditer")
    assert not all(pumps.is_linear(one.apply, attack) for attack in pumps.attacks(one.pattern))


@pytest.mark.parametrize("pattern", [r"(?:a+)+b", r"a*a*a*b"])
def test_a_cache_of_results_does_not_hide_the_time(pattern: str) -> None:
    work = lru_cache(maxsize=64)(re.compile(pattern).search)
    assert not pumps.is_linear(work, pumps.Attack("", "a", ""))


@pytest.mark.parametrize("module", sorted({one.place.rpartition(".")[0] for one in USED}))
def test_every_pattern_is_linear(module: str) -> None:
    for one in USED:
        if one.place.rpartition(".")[0] == module:
            for attack in pumps.attacks(one.pattern):
                assert pumps.is_linear(one.apply, attack, SIZES), f"{one.place}: {attack}"


@pytest.mark.parametrize("pump", HOSTILE)
def test_the_rules_read_any_turn_in_linear_time(pump: str) -> None:
    def work(text: str) -> None:
        parse_window(read_together([turn(text)]))

    for end in ("", ",x", "."):
        assert pumps.is_linear(work, pumps.Attack("I live in ", pump, end), SIZES)


@pytest.mark.parametrize("pump", HOSTILE)
def test_a_quote_of_any_length_is_looked_for_in_linear_time(pump: str) -> None:
    def work(text: str) -> None:
        list(quotes.find_quote(text[: len(text) // 2], text, any_case=True))
        list(quotes.find_quote(text, text, any_case=True))

    for end in ("", "b", "."):
        assert pumps.is_linear(work, pumps.Attack("", pump, end), SIZES)


@pytest.mark.parametrize("pump", ["I live in Porto. ", "I like tea, and I like rum. "])
def test_the_proposals_of_any_turn_are_checked_in_linear_time(pump: str) -> None:
    def work(text: str) -> None:
        window = read_together([turn(text)])
        check_proposals(parse_window(window)[0], window, CheckContext("global", {"t0"}))

    assert pumps.is_linear(work, pumps.Attack("", pump, ""), SIZES)
