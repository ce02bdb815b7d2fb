"""`graphmem belief timeline`, and what it draws."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from graphmem.cli import plot
from graphmem.errors import ConfigurationError, InvalidInputError
from graphmem.model import Point, Series, Timeline, VerdictStatus

Run = Callable[..., Any]

START = datetime(2025, 5, 5, 9, tzinfo=UTC)


def line(name: str, *values: float, test: float | None = None) -> Series:
    status = None if test is None else VerdictStatus.ACCUMULATING
    points = tuple(
        Point(at=START + timedelta(days=n), belief=v, confidence=test, status=status)
        for n, v in enumerate(values)
    )
    return Series(belief_id=f"b_{name}", statement=f"about {name}", object=name, points=points)


def timeline(*series: Series) -> Timeline:
    return Timeline(
        subject="alice",
        predicate="works_on",
        series=series,
        instants=tuple(sorted({p.at for s in series for p in s.points})),
        provisional=False,
    )


SLOT = timeline(line("Atlas", 0.9, 0.5), line("Borealis", 0.1, 0.4))


def test_a_slot_is_one_curve_a_value() -> None:
    drawn = list(plot.curves(SLOT))
    assert [(c.label, c.values) for c in drawn] == [("Atlas", [0.9, 0.5]), ("Borealis", [0.1, 0.4])]
    assert plot.title(SLOT) == "alice works_on"


def test_a_belief_is_drawn_with_its_test() -> None:
    found = timeline(line("Atlas", 0.9, 0.5, test=0.6))
    drawn = list(plot.curves(found))
    assert [(c.label, c.values) for c in drawn] == [
        ("belief", [0.9, 0.5]),
        ("confidence of the test", [0.6, 0.6]),
    ]
    assert plot.title(found) == "about Atlas"


def test_in_the_terminal_every_curve_is_named() -> None:
    drawn = plot.in_terminal(80)(SLOT)
    for words in ("alice works_on", "● Atlas", "● Borealis", "1.00", "0.00", "05-05 09:00"):
        assert words in drawn
    # Drawn again it is the same: nothing of the first is left over.
    assert plot.in_terminal(80)(SLOT) == drawn
    long = timeline(line("Atlas", *[0.5] * 10))
    assert "2025-05-05" in plot.in_terminal(80)(long)


def test_a_text_cannot_command_a_terminal() -> None:
    assert plot.shown("red \x1b[31m\nalert\a") == r"red \x1b[31m alert\x07"
    assert plot.shown("x" * 100) == "x" * 39 + "…"


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.SVG", b"<?xml")])
def test_a_file_is_drawn_in_its_format(tmp_path: Path, name: str, start: bytes) -> None:
    said = plot.to_file(tmp_path / name)(timeline(line("costs $5 or $6", 0.1), line("_", 1)))
    assert said == f"Written to {tmp_path / name}."
    drawn = (tmp_path / name).read_bytes()
    assert drawn.startswith(start)


def test_nothing_known_is_said_and_not_drawn(tmp_path: Path) -> None:
    nothing = "No beliefs about alice works_on."
    assert plot.in_terminal(80)(timeline()) == nothing
    assert plot.to_file(tmp_path / "a.png")(timeline()) == nothing
    assert not (tmp_path / "a.png").exists()


def test_a_file_that_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"\.png or \.svg"):
        plot.to_file(tmp_path / "a.pdf")
    with pytest.raises(InvalidInputError, match="does not exist"):
        plot.to_file(tmp_path / "none" / "a.png")


@pytest.mark.parametrize("name", ["plotext", "matplotlib"])
def test_a_missing_library_is_named_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    for module in [m for m in sys.modules if m.partition(".")[0] == name]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(sys, "meta_path", [_Missing(name), *sys.meta_path])
    draws = {"plotext": lambda: plot.in_terminal(80)}
    draws["matplotlib"] = lambda: plot.to_file(tmp_path / "a.png")
    with pytest.raises(ConfigurationError, match=name) as caught:
        draws[name]()
    assert "pip install 'graphmem[plot]'" in str(caught.value)


class _Missing:
    """A finder to which a package is not installed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def find_spec(self, name: str, *_: object) -> None:
        if name.partition(".")[0] == self._name:
            raise ModuleNotFoundError(name)


def test_the_command_draws_slots_and_beliefs(run: Run, tmp_path: Path) -> None:
    seen = ("belief", "observe", "alice", "likes", "tea", "--at", "2025-05-05T09:00:00Z")
    belief = run(*seen, "--json").data["belief_id"]
    shown = run("belief", "timeline", "alice", "likes").out
    assert "● tea" in shown
    assert "\x1b" not in shown, "not a terminal: no colours"
    assert "● confidence of the test" in run("belief", "timeline", belief).out
    file = tmp_path / "tea.svg"
    assert f"Written to {file}." in run("belief", "timeline", belief, "-o", str(file)).out
    assert file.exists()
    data = run("belief", "timeline", "alice", "likes", "--json").data
    assert [s["object"] for s in data["series"]] == ["tea"]
    assert run("belief", "timeline", "b_nope").code == 1
    assert run("belief", "timeline", belief, "-o", str(tmp_path / "tea.pdf")).code == 2
    assert run("belief", "timeline", belief, "--points", "1").code == 2
