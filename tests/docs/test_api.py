"""docs/api.md is current, complete, and what help() and completion show."""

from __future__ import annotations

import pydoc
import re
from itertools import chain

import jedi
import pytest

import graphmem
from graphmem import Handle, model
from tests.docs.api_reference import FEATURES, PAGE, reference
from tests.plugins.twins import NAMESPACES, exported, public


def test_the_page_is_current() -> None:
    assert PAGE.read_text("utf-8") == reference(), "run `just api`"


def test_the_page_names_every_public_name() -> None:
    page = PAGE.read_text("utf-8")
    for name in {*graphmem.__all__, *chain(*map(exported, (model, *FEATURES)))}:
        assert re.search(rf"\b{name}\b", page), name
    for name in public():
        assert f"    handle.{name}(" in page, name


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
