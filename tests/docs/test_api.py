"""The pages of the Python API are current, and show what help() and completion show."""

from __future__ import annotations

import pydoc

import jedi
import pytest

from graphmem import Handle
from tests.docs.api_reference import FOLDER, PAGES
from tests.plugins.twins import NAMESPACES


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_current(name: str) -> None:
    assert (FOLDER / f"{name}.md").read_text("utf-8") == PAGES[name](), "run `just api`"


def test_help_shows_every_parameter_with_its_default() -> None:
    shown = " ".join(pydoc.plain(pydoc.render_doc(Handle.observe)).split())
    for words in ("subject:", "predicate:", "object:", "confidence: 'float' = 0.8"):
        assert words in shown
    for name in ("episode_id", "turn_id"):
        assert f"{name}: 'AskedId | None' = None" in shown
    for name in ("event_id", "actor", "artifact_ref"):
        assert f"{name}: 'str | None' = None" in shown


COMPLETED = pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("handle.observe(", {"subject=", "confidence=", "kind=", "source_type=", "note="}),
        ("handle.beliefs.what_if(", {"without=", "pooled=", "as_of="}),
        ("handle.beliefs.", {"get", "timeline", "what_if"}),
        ("handle.", {"observe", "recall", *NAMESPACES}),
    ],
)


@COMPLETED
def test_a_shell_completes(typed: str, offered: set[str]) -> None:
    """IPython completes with jedi on living objects."""
    handle = Handle(None)  # type: ignore[arg-type]
    completions = jedi.Interpreter(typed, [{"handle": handle}]).complete()
    assert offered <= {one.name for one in completions}


@COMPLETED
def test_an_editor_completes(typed: str, offered: set[str]) -> None:
    """Editors complete with jedi on the source alone."""
    source = f"from graphmem import Handle\ndef use(handle: Handle):\n    {typed}"
    completions = jedi.Script(source).complete()
    assert offered <= {one.name for one in completions}
