"""The benchmark of calls: its texts are new, its bounds are those of the primitives."""

from __future__ import annotations

import pytest
from rich.console import Console

from bench import calls
from bench.progress import Steps

BARE = {calls.ENCODE: 5.0, calls.WRITES: 2.0, calls.READS: 1.0, calls.SEARCHES: 2.0}


def test_no_text_comes_twice() -> None:
    made = [text() for text in (calls.Texts(1), calls.Texts(2)) for _ in range(2_000)]
    assert len({*made}) == len(made)


@pytest.mark.parametrize(
    ("name", "bound", "parts"),
    [("recall", 15.4, 6.0), ("observe", 11.0, 7.0), ("current", 4.0, 1.0), ("why", None, 1.0)],
)
def test_a_call_is_judged_by_the_primitives(name: str, bound: float | None, parts: float) -> None:
    for p50, met in ((3.9, True), (15.5, False)):
        row = calls._call(300, name, [p50], BARE)
        assert row["parts"] == pytest.approx(p50 / parts)
        assert row["at most"] == (None if bound is None else pytest.approx(bound))
        assert row["met"] is (None if bound is None else met)


@pytest.mark.parametrize(
    ("file", "function", "spender"),
    [
        ("~", "<method 'recv_into' of '_socket.socket' objects>", "server"),
        ("~", "<built-in method onnxruntime.capi.onnxruntime_pybind11_state.run>", "model"),
        ("/x/site-packages/neo4j/_sync/io/_bolt.py", "run", "driver"),
        ("/x/graphmem/ports.py", "decode", "graphmem"),
        ("~", "<built-in method builtins.len>", "other"),
    ],
)
def test_the_time_of_a_function_has_one_spender(file: str, function: str, spender: str) -> None:
    assert calls._spender(file, function) == spender


@pytest.mark.system
@pytest.mark.server
def test_every_call_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, count in (("ROUNDS", 3), ("WARM_UP", 1), ("PROFILED", 2)):
        monkeypatch.setattr(calls, name, count)
    primitives, measured, profiles = calls.measure([20], Steps(Console(quiet=True))).tables
    every = [*BARE, calls.INDEXED, calls.ALL_SEARCHES]
    assert [row["primitive"] for row in primitives.rows] == every
    names = [row["call"] for row in measured.rows]
    assert {*calls.BOUNDS} < {*names}
    assert [row["call"] for row in profiles.rows] == names
    assert all(row["p50"] for row in (*primitives.rows, *measured.rows))
