"""Every CALL that docs/reference/procedures.md shows is one that the managed server answers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import neo4j
import pytest

from tests.docs.conftest import FENCED, GRAPHMEM, Environ, run

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "procedures.md").read_text("utf-8")


@pytest.mark.system
def test_every_call_is_answered(newcomer: Environ) -> None:
    written = [GRAPHMEM, "memory", "remember", "The limit is 100 requests.", "--tenant", "pages"]
    run(written, newcomer)
    status = json.loads(run([GRAPHMEM, "server", "status", "--json"], newcomer))
    password = Path(status["password_file"]).read_text().strip()
    pages = "".join(text for kind, text in FENCED.findall(PAGE) if kind == "cypher")
    # A tenant of its own: other pages count what is in theirs.
    pages = pages.replace("'acme'", "'pages'")
    calls = re.findall(r"^CALL .*?(?=^//|^CALL|\Z)", pages, re.MULTILINE | re.DOTALL)
    auth = ("neo4j", password)
    with neo4j.GraphDatabase.driver(status["uri"], auth=auth) as driver:
        answers = [driver.execute_query(call.strip().rstrip(";")).records for call in calls]
    assert [len(rows) > 0 for rows in answers] == [False, True, False, False, True]
