"""The blocks of every page run: Python prints what the page shows, and commands exist."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from textwrap import indent

import click
import pytest

from graphmem.cli import cli
from graphmem.items import operations as operation
from graphmem.items import rules
from graphmem.settings import Settings
from tests.docs.conftest import FENCED, Environ, Follow, python, run

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    path.relative_to(DOCS).with_suffix("").as_posix(): path.read_text("utf-8")
    for path in sorted(DOCS.rglob("*.md"))
}
PYTHON = {
    "explanation/beliefs": 2,
    "explanation/consolidation": 1,
    "explanation/erasure": 1,
    "explanation/extraction": 2,
    "explanation/recall": 2,
    "explanation/sealing": 1,
    "explanation/trust": 1,
    "how-to/corrections": 1,
    "how-to/langgraph": 3,
    "how-to/rejection": 1,
    "how-to/transfer": 2,
    "reference/objects": 4,
    "start": 1,
    "tutorials/users-fastapi": 1,
    "tutorials/why-in-march": 2,
}
"""Number of Python blocks of each page whose blocks run one by one."""
SHELL = {
    "how-to/backup": 1,
    "how-to/erasure-requests": 1,
    "how-to/upgrade": 1,
    "reference/cli": 1,
    "tutorials/why-in-march": 1,
}
"""Number of shell blocks of each page whose first ones run in their order."""
ELSEWHERE = {
    *("how-to/browser", "how-to/reembedding", "reference/http", "reference/mcp"),
    *("reference/procedures", "tutorials/chat-agent", "tutorials/coding-agent"),
}
"""Pages whose blocks are run by tests of their own."""
NOT_RUN = {
    "evidence/retrieval": "takes an hour",
    "how-to/clusters": "needs a cluster",
    "how-to/deployment": "needs Docker and Kubernetes",
    "how-to/transfer": "needs another server; tests/transfer moves a tenant to one",
    "how-to/explorer": "serves until it is stopped; tests/explorer opens it",
    "how-to/local-models": "needs a language model",
    "how-to/models": "needs a language model",
    "how-to/other-packages": "installs packages",
    "how-to/servers": "needs Docker",
    "how-to/sizing": "needs more memory than a test has",
    "how-to/worker": "runs until it is stopped",
    "how-to/uninstall": "ends the server of the other tests",
    "index": "runs in the test of the README",
    "start": "runs in the test of the README",
}
"""Pages whose shell blocks do not run; their commands are checked all the same."""
COMMAND = re.compile(r"(?:^ {4}|`|\$\(|&& |-- )graphmem ((?:\\\n|[^\n`#|&;)>])+)", re.MULTILINE)
"""Matches a command in a block, an indented line or a text, with its words."""


@pytest.mark.system
@pytest.mark.parametrize("page", PYTHON)
def test_the_blocks_print_what_the_page_shows(follow: Follow, page: str) -> None:
    blocks = [*FENCED.findall(PAGES[page]), ("end", "")]
    scripts = [
        (text, shown if after == "text" else "")
        for (kind, text), (after, shown) in pairwise(blocks)
        if kind == "python"
    ]
    assert len(scripts) == PYTHON[page]
    for text, shown in scripts:
        assert follow(python(text)) == shown


@pytest.mark.system
@pytest.mark.parametrize("page", SHELL)
def test_the_commands_run(newcomer: Environ, page: str, tmp_path: Path) -> None:
    shells = [text for kind, text in FENCED.findall(PAGES[page]) if kind == "bash"]
    for text in shells[: SHELL[page]]:
        run(["bash", "-ec", f"cd {tmp_path}\n{text}"], newcomer)


def test_the_settings_of_a_page_are_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [text for kind, text in FENCED.findall(PAGES["reference/settings"]) if kind == "toml"]
    for text in found:
        (tmp_path / "graphmem.toml").write_text(text, "utf-8")
        monkeypatch.setenv("GRAPHMEM_CONFIG", str(tmp_path / "graphmem.toml"))
        Settings.load()
    assert len(found) == 2


def test_every_block_is_followed_by_a_test() -> None:
    for page, text in PAGES.items():
        blocks = Counter(kind for kind, _ in FENCED.findall(text))
        assert blocks.keys() <= {"python", "bash", "text", "toml", "cypher"}, page
        if page not in ELSEWHERE:
            assert blocks["python"] == PYTHON.get(page, 0), page
            assert not blocks["bash"] or page in SHELL | NOT_RUN, page
        assert "toml" not in blocks or page == "reference/settings", page
        assert "cypher" not in blocks or page == "reference/procedures", page


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each command of graphmem in a page, from the second on."""
    shown = FENCED.sub(lambda found: indent(found[2], "    ") * (found[1] == "bash"), text)
    for found in COMMAND.finditer(shown):
        yield found[1].replace("\\\n", " ").split()


def unknown(words: list[str]) -> str | None:
    """Return the first command or option that the command line lacks; None if it has all."""
    command: click.Command = cli
    options = {"--help", "--version"}
    for word in words:
        if word.startswith("--"):
            if word.partition("=")[0] not in options:
                return word
        elif isinstance(command, click.Group):
            inner = command.get_command(click.Context(command), word)
            if inner is None:
                return None if command.invoke_without_command else word
            command = inner
            options |= {name for param in command.params for name in param.opts}
    return None


def test_the_commands_of_the_pages_exist() -> None:
    found = {
        (page, *words)
        for page, text in PAGES.items()
        for words in commands(text)
        if unknown(words) is not None
    }
    assert found == set()


def test_an_unknown_command_is_found() -> None:
    text = (
        "    graphmem memory vanish ID  # x\nand `graphmem recall --vanish x`, `graphmem why b_1`"
    )
    assert [unknown(words) for words in commands(text)] == ["vanish", "--vanish", None]


def test_the_page_of_langgraph_has_the_numbers_of_the_code() -> None:
    for number in (rules.MAX_VALUE_CHARS, rules.MAX_PATH_CHARS, operation.EXACT):
        assert f"{number:,}" in PAGES["how-to/langgraph"]
