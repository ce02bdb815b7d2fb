"""`graphmem worker` prints one line for each run of a job, and stops when it is asked to."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import get_args

from graphmem.jobs import JobName, schedule
from graphmem.settings import Settings
from tests.cli.conftest import Run
from tests.plugins.children import environ_of


def test_one_line_is_printed_for_each_job(run: Run, tenant: str) -> None:
    run("memory", "remember", "The night train goes to Porto.")
    ran = run("worker", "--once", "--tenant", tenant)
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert len(lines) == len(schedule.INTERVAL_S)
    for line, job in zip(lines, schedule.INTERVAL_S, strict=True):
        count = int(job == "seal")
        assert re.fullmatch(rf"\S+Z {tenant} {job} ok \d+\.\d s: {count} .+", line)
    assert run("worker", "--once", "--tenant", tenant).out == ""


def test_json_is_one_object_a_line(run: Run, tenant: str) -> None:
    run("memory", "remember", "The night train goes to Porto.")
    ran = run("worker", "--once", "--tenant", tenant, "--job", "rate", "--json")
    [line] = ran.out.splitlines()
    assert json.loads(line)["job"] == "rate"


def test_a_failed_job_gives_the_exit_code(run: Run, tenant: str, tmp_path: Path) -> None:
    run("memory", "remember", "The night train goes to Porto.")
    (tmp_path / "file").write_text("", "utf-8")
    folder = str(tmp_path / "file" / "digests")
    ran = run("worker", "--once", "--tenant", tenant, "--job", "graduate", "--digests", folder)
    assert ran.code == 1
    assert "graduate ok" in ran.out
    assert "graduate skipped global" in ran.out
    assert "cannot be created" in ran.out
    assert "(attempt 1, the next in 60 s)" in ran.out


def test_the_jobs_run_in_the_order_of_the_help() -> None:
    assert get_args(JobName) == tuple(schedule.INTERVAL_S)


def test_a_worker_ends_when_a_service_manager_stops_it(
    migrated: Settings, run: Run, tenant: str
) -> None:
    run("memory", "remember", "The night train goes to Porto.")
    command = [sys.executable, "-m", "graphmem", "worker", "--tenant", tenant, "--job", "rate"]
    environ = environ_of(migrated, tenant) | {"GRAPHMEM_EMBEDDER": "hash", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            assert " rate ok " in child.stdout.readline()
            child.send_signal(signal.SIGTERM)
            assert child.wait(300) == 0
        finally:
            child.kill()
