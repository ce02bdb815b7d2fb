"""Alert rules, dashboard and page use metrics that exist; each rule fires when it should."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from graphmem import errors
from graphmem.client.handle import AsyncHandle
from graphmem.ports import Answer, Role
from graphmem.telemetry import PrometheusTelemetry
from graphmem.telemetry.graph_metrics import GraphMetrics, StatsSnapshot
from graphmem.telemetry.receivers import INTERRUPTED, OK, UNEXPECTED
from tests.plugins.server import nothing_may_be_skipped
from tests.telemetry.test_graph_metrics import reading

DOCS = Path(__file__).parents[2] / "docs"
FOLDER = DOCS / "monitoring"
PAGE = (DOCS / "how-to" / "monitoring.md").read_text("utf-8")
ALERTS = yaml.safe_load((FOLDER / "alerts.yml").read_text("utf-8"))
UNITS = yaml.safe_load((FOLDER / "alerts_test.yml").read_text("utf-8"))["tests"]
DASHBOARD = json.loads((FOLDER / "grafana.json").read_text("utf-8"))
RULES = {rule["alert"]: rule for group in ALERTS["groups"] for rule in group["rules"]}
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
NAME = re.compile(r"\bgraphmem_\w+")


def exprs() -> Iterator[tuple[str, str]]:
    """Yield every query with its place."""
    for alert, rule in RULES.items():
        yield alert, rule["expr"]
    for panel in PANELS:
        for target in panel["targets"]:
            yield panel["title"], target["expr"].replace("$__rate_interval", "5m")


EXPRS = list(exprs())


@pytest.fixture(scope="module")
def exposed() -> dict[str, tuple[str, set[str]]]:
    """Family and labels of every sample that a scrape of either source gives."""
    registry = CollectorRegistry()
    counting = PrometheusTelemetry(registry)
    with counting.operation("recall", "t"), counting.embedding("m", Role.QUERY, 1):
        pass
    with counting.reranking("m", 1):
        pass
    for cost in (None, 0.5):
        with counting.answering("m") as record:
            record(Answer("", "", "m", 1, 1, 1, cost))
    shown = GraphMetrics(by_tenant=False)
    shown.show(StatsSnapshot([reading()], 0.0, 0.0))
    found: dict[str, tuple[str, set[str]]] = {}
    for text in (generate_latest(registry).decode(), shown.text()):
        for family in text_string_to_metric_families(text):
            for one in family.samples:
                _, labels = found.setdefault(one.name, (family.type, set()))
                labels.update(one.labels)
    return found


def promtool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run promtool, of the Debian package prometheus."""
    found = shutil.which("promtool")
    if found is None:
        message = "no promtool: install the package prometheus"
        if nothing_may_be_skipped():
            pytest.fail(message, pytrace=False)
        pytest.skip(message)
    return subprocess.run(
        [found, *map(str, arguments)], capture_output=True, text=True, cwd=FOLDER, check=False
    )


def wrong_names(expr: str, exposed: Mapping[str, Any]) -> list[str]:
    return [name for name in NAME.findall(expr) if name not in exposed]


def wrong_labels(expr: str, exposed: Mapping[str, tuple[str, set[str]]]) -> set[str]:
    """Return labels that a query asks for and none of its metrics has; Prometheus adds two."""
    known = {"job", "instance"}.union(*(exposed[name][1] for name in NAME.findall(expr)))
    asked = {
        label.strip()
        for listed in re.findall(r"\bby \(([^)]*)\)", expr)
        for label in listed.split(",")
    }
    inside = (part for part in re.findall(r"\{([^}]*)\}", expr))
    asked |= {label for part in inside for label in re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", part)}
    return asked - known


@pytest.mark.parametrize(("where", "expr"), EXPRS, ids=[where for where, _ in EXPRS])
def test_a_query_asks_for_what_exists(
    where: str, expr: str, exposed: dict[str, tuple[str, set[str]]]
) -> None:
    assert NAME.search(expr), where
    assert wrong_names(expr, exposed) == []
    assert wrong_labels(expr, exposed) == set()


def test_a_query_for_what_does_not_exist_would_be_found(
    exposed: dict[str, tuple[str, set[str]]],
) -> None:
    assert wrong_names("rate(graphmem_memories_total[5m])", exposed) == ["graphmem_memories_total"]
    assert wrong_labels("sum by (status, tier) (graphmem_memories)", exposed) == {"tier"}
    assert wrong_labels('graphmem_memories{tier="HIGH"}', exposed) == {"tier"}
    assert len(EXPRS) > 40


def test_a_rate_is_one_of_a_counter(exposed: dict[str, tuple[str, set[str]]]) -> None:
    for where, expr in EXPRS:
        for name in re.findall(r"\b(?:rate|increase)\((graphmem_\w+)", expr):
            assert exposed[name][0] in {"counter", "histogram"}, (where, name)
        for name in re.findall(r"\bdelta\((graphmem_\w+)", expr):
            assert exposed[name][0] == "gauge", (where, name)


def test_everything_that_is_exposed_is_watched(exposed: dict[str, tuple[str, set[str]]]) -> None:
    asked = {name for _, expr in EXPRS for name in NAME.findall(expr)}
    stems = {re.sub(r"_(bucket|count|sum|gcount|gsum)$", "", name) for name in asked}
    for name in exposed:
        if not name.endswith("_created"):
            assert re.sub(r"_(bucket|count|sum|gcount|gsum)$", "", name) in stems, name


def test_names_follow_the_conventions(exposed: dict[str, tuple[str, set[str]]]) -> None:
    for name, (kind, _) in exposed.items():
        if not name.endswith("_created"):
            assert name.endswith("_total") == (kind == "counter"), name
            assert not re.search(r"_(ms|milliseconds|minutes|kb|mb)(_|$)", name), name


def test_the_rules_are_sound() -> None:
    done = promtool("check", "rules", "alerts.yml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(RULES)} rules found" in done.stdout


def test_each_rule_fires_past_its_boundary_and_not_at_it() -> None:
    done = promtool("test", "rules", "alerts_test.yml")
    assert done.returncode == 0, done.stdout + done.stderr
    fires: dict[bool, set[str]] = {True: set(), False: set()}
    for unit in UNITS:
        for case in unit["alert_rule_test"]:
            fires[bool(case["exp_alerts"])].add(case["alertname"])
    assert fires[True] == fires[False] == set(RULES)


@pytest.mark.system
@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("graphmem_graph_up == 0", "graphmem_graph_up == 1"),
        ("for: 30m", "for: 29m"),
        ("> 0.05", "> 0.04"),
        ("graphmem_log_waiting_entries > 1000", "graphmem_log_waiting_entries > 999"),
        ("> 100\n", "> 101\n"),
        ("total[1h]) > 3", "total[1h]) > 4"),
        ("[1d]) > 5", "[1d]) > 4"),
        ("[10m]))) > 1", "[10m]))) > 3"),
        (" > 600", " > 660"),
    ],
)
def test_another_threshold_would_be_noticed(tmp_path: Path, was: str, becomes: str) -> None:
    rules = (FOLDER / "alerts.yml").read_text("utf-8")
    assert was in rules
    (tmp_path / "alerts.yml").write_text(rules.replace(was, becomes, 1), "utf-8")
    shutil.copy(FOLDER / "alerts_test.yml", tmp_path)
    assert promtool("test", "rules", tmp_path / "alerts_test.yml").returncode != 0


def test_every_query_of_the_dashboard_is_promql(tmp_path: Path) -> None:
    rules = [{"record": f"panel:{n}", "expr": expr} for n, (_, expr) in enumerate(EXPRS)]
    whole = tmp_path / "panels.yml"
    whole.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}), "utf-8")
    done = promtool("check", "rules", whole)
    assert f"{len(rules)} rules found" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0, done.stdout + done.stderr
    rules[0]["expr"] += ")"
    whole.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}), "utf-8")
    assert promtool("check", "rules", whole).returncode != 0


def test_what_promtool_says_of_a_real_scrape(exposed: dict[str, tuple[str, set[str]]]) -> None:
    shown = GraphMetrics(by_tenant=True)
    shown.show(StatsSnapshot([reading("acme")], 0.0, 0.0))
    registry = CollectorRegistry()
    with PrometheusTelemetry(registry).operation("recall", "t"):
        pass
    tool = shutil.which("promtool")
    if tool is None:
        promtool()
    for text in (shown.text(), generate_latest(registry).decode()):
        done = subprocess.run(
            [str(tool), "check", "metrics"], input=text, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_outcomes_and_operations_that_rules_name_exist() -> None:
    codes = {
        kind.code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, errors.GraphmemError)
    } | {
        OK,
        UNEXPECTED,
        INTERRUPTED,
    }
    named: set[str] = set()
    for _, expr in EXPRS:
        for outcomes in re.findall(r'outcome(?:=~|!~|=|!=)"([^"]*)"', expr):
            named |= set(outcomes.split("|"))
        for operations in re.findall(r'operation(?:=~|!~|=|!=)"([^"]*)"', expr):
            assert all(hasattr(AsyncHandle, one) for one in operations.split("|"))
    assert named <= codes
    assert len(named) > 5


def test_every_alert_says_what_to_do_and_stands_on_the_page() -> None:
    for rule in RULES.values():
        assert rule["labels"]["severity"] in {"critical", "warning"}
        assert set(rule["annotations"]) == {"summary", "action"}
    listed = re.findall(r"^\| (Graphmem\w+) \|", PAGE, re.MULTILINE)
    assert listed == list(RULES)


def test_the_page_lists_every_metric_with_its_type_and_labels(
    exposed: dict[str, tuple[str, set[str]]],
) -> None:
    rows = re.findall(
        r"^\| `(graphmem_\w+)` \| (\w+) \| ([\w, ]*) \| (exporter|process) \|", PAGE, re.MULTILINE
    )
    listed = {name: (kind, {x for x in labels.split(", ") if x}) for name, kind, labels, _ in rows}
    found: dict[str, tuple[str, set[str]]] = {}
    for name, (kind, labels) in exposed.items():
        if not name.endswith(("_created", "_gcount", "_gsum")):
            stem = re.sub(r"_(bucket|count|sum)$", "", name) if kind == "histogram" else name
            _, known = found.setdefault(stem, (kind, set()))
            known |= labels - {"le"}
    assert listed == found
    assert len(rows) == len(listed)


def test_panels_stand_beside_one_another() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)
    assert {target["datasource"]["uid"] for panel in PANELS for target in panel["targets"]} == {
        "${datasource}"
    }
