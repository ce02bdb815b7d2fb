"""The jobs and commands that docs/how-to/worker.md and the service files name exist."""

from __future__ import annotations

import configparser
import re
import shlex
from pathlib import Path

import pytest

from graphmem.cli import main
from graphmem.jobs import schedule

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "worker.md").read_text("utf-8")
UNIT = ROOT / "docs" / "worker" / "graphmem-worker.service"


def test_the_page_lists_every_job_in_its_order() -> None:
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE) == list(schedule.INTERVAL_S)


def understood(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Fail unless the command line has these options."""
    assert command[0].endswith("graphmem")
    options = [word for word in command[1:] if word.startswith("--")]
    with pytest.raises(SystemExit) as ended:
        main([command[1], "--help"])
    assert not ended.value.code
    help_text = capsys.readouterr().out
    assert [option for option in options if option not in help_text] == []


def test_the_unit_runs_a_command_that_exists(capsys: pytest.CaptureFixture[str]) -> None:
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(UNIT.read_text("utf-8"))
    understood(shlex.split(unit["Service"]["ExecStart"]), capsys)
    assert unit["Service"]["Restart"] == "on-failure"
