"""Files of the repository: links, forms, workflows, hooks, versions and the changelog."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml  # type: ignore[import-untyped]

import graphmem
from tests.plugins.server import kind

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
TOOLS = Path(sys.executable).parent
PAGES = [
    *(ROOT / f"{name}.md" for name in ("CONTRIBUTING", "SECURITY", "CODE_OF_CONDUCT", "CHANGELOG")),
    ROOT / "changelog.d" / "README.md",
    *sorted((ROOT / "docs" / "decisions").glob("*.md")),
]
LINK = re.compile(r"\]\((?!https?://)([^)#\s]+)(?:#[^)\s]+)?\)")
FILE = re.compile(r"`((?:[\w.]+/)+[\w.]*)`")
"""Matches a path in the text of a page."""
SCHEMAS = {
    "github-workflows": [*(ROOT / ".github" / "workflows").glob("*.yml")],
    "github-issue-forms": [
        path
        for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")
        if path.stem != "config"
    ],
    "github-issue-config": [ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml"],
    "dependabot": [ROOT / ".github" / "dependabot.yml"],
}


def jobs(name: str) -> dict[str, Any]:
    """Return the jobs of a workflow."""
    text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text("utf-8")
    found: dict[str, Any] = yaml.safe_load(text)["jobs"]
    return found


def commands(job: dict[str, Any]) -> str:
    return "\n".join(step.get("run", "") for step in job["steps"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_and_paths_of_a_page_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    assert [path for path in LINK.findall(text) if not (page.parent / path).exists()] == []
    paths = [path for path in FILE.findall(text) if path != "dist/"]
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_decision_is_listed_in_order() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = LINK.findall((folder / "README.md").read_text("utf-8"))
    assert listed == sorted(path.name for path in folder.glob("0*.md"))
    assert [int(name[:4]) for name in listed] == [*range(1, len(listed) + 1)]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_files_of_github_have_its_form(schema: str) -> None:
    vendored = resources.files("check_jsonschema") / "builtin_schemas" / "vendor"
    form = json.loads((vendored / f"{schema}.json").read_text("utf-8"))
    for file in SCHEMAS[schema]:
        # YAML reads the key `on` as a truth value.
        content = json.loads(json.dumps(yaml.safe_load(file.read_text("utf-8"))))
        if "true" in content:
            content["on"] = content.pop("true")
        jsonschema.validate(content, form)


def test_the_workflow_tests_every_supported_version() -> None:
    matrix = jobs("ci")["test"]["strategy"]["matrix"]
    named = re.findall(r":: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    assert matrix["python"] == named
    assert PROJECT["project"]["requires-python"] == f">={named[0]}"
    lowest, newest = jobs("ci")["dependencies"]["strategy"]["matrix"]["include"]
    assert (lowest["resolution"], newest["resolution"]) == ("lowest-direct", "highest")
    assert (lowest["python"], newest["python"]) == (named[0], named[-1])


def test_a_setting_chooses_the_server_of_the_tests() -> None:
    assert kind({}) == "managed"
    assert kind(jobs("ci")["container"]["env"]) == "testcontainers"
    compose = jobs("ci")["compose"]
    assert kind(compose["env"]) == "GRAPHMEM_TEST_URI"
    assert compose["env"]["GRAPHMEM_TEST_PASSWORD"] == compose["env"]["GRAPHMEM_PASSWORD"]
    assert "docker compose up --detach --wait" in commands(compose)
    with pytest.raises(pytest.UsageError, match="must be managed or testcontainers, not 'x'"):
        kind({"GRAPHMEM_TEST_SERVER": "x"})


def test_the_workflows_call_what_exists() -> None:
    recipes = re.findall(r"^([\w-]+).*:$", (ROOT / "justfile").read_text("utf-8"), re.MULTILINE)
    extras = PROJECT["project"]["optional-dependencies"]
    for name in ("ci", "release"):
        text = "\n".join(commands(job) for job in jobs(name).values())
        assert {*re.findall(r"\bjust ([\w-]+)", text)} <= {*recipes}
        wanted = {one for found in re.findall(r"'\.\[(.*?)\]'", text) for one in found.split(",")}
        assert wanted <= extras.keys()


def test_the_hooks_run_tools_of_the_development_extra() -> None:
    file = ROOT / ".pre-commit-config.yaml"
    subprocess.run([TOOLS / "pre-commit", "validate-config", file], check=True)
    [local] = yaml.safe_load(file.read_text("utf-8"))["repos"]
    tools = {shlex.split(hook["entry"])[0] for hook in local["hooks"]}
    assert tools == {"ruff", "mypy"}
    assert all((TOOLS / tool).exists() for tool in tools)


def test_the_versions_agree() -> None:
    written = re.fullmatch(r"(\d+\.\d+\.\d+)(?:(a|b|rc)(\d+))?", graphmem.__version__)
    assert written is not None
    release, stage, number = written.groups()
    name = {"a": "alpha", "b": "beta", "rc": "rc", None: ""}[stage]
    semantic = f"{release}-{name}.{number}" if stage else release
    for file in ("package.json", "package-lock.json"):
        package = json.loads((ROOT / "clients" / "typescript" / file).read_text("utf-8"))
        assert package["version"] == semantic
    chart = yaml.safe_load((ROOT / "deploy" / "helm" / "Chart.yaml").read_text("utf-8"))
    assert (chart["version"], chart["appVersion"]) == (semantic, graphmem.__version__)
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    [latest] = re.findall(r"^## (\S+)", text, re.MULTILINE)[:1]
    assert latest == graphmem.__version__


def test_the_fragments_of_the_changelog_have_a_type() -> None:
    config = PROJECT["tool"]["towncrier"]
    assert config["start_string"] in (ROOT / "CHANGELOG.md").read_text("utf-8")
    types = "|".join(kind["directory"] for kind in config["type"])
    names = [path.name for path in (ROOT / config["directory"]).iterdir()]
    fragment = re.compile(rf"README\.md|(?:\d+|\+[\w-]+)\.(?:{types})\.md")
    assert [name for name in names if not fragment.fullmatch(name)] == []


def test_all_is_every_extra_for_users() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    [named] = extras["all"]
    inside = named.removeprefix("graphmem[").removesuffix("]").split(",")
    assert {*inside} == extras.keys() - {"all", "dev", "docs", "release"}
