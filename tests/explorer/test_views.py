"""Results on their own, as notebooks and panels show them: inert, readable, without a server."""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape

from graphmem import Handle
from graphmem.explorer import views
from graphmem.model.terms import Shown
from tests.explorer.conftest import Checked, check_inert, write_hostile

EXPLORER = "https://memory.example"


def shown(found: Shown) -> str:
    """Return the text of a view, which must be inert in a notebook and with links."""
    html = found._repr_html_()
    assert html is not None
    own = f"<style>{views.style()}</style>\n"
    assert html.startswith(own)
    check_inert(html.removeprefix(own))
    assert not Checked(html.removeprefix(own)).links
    linked = views.fragment(found, f"{EXPLORER}/").replace(f'href="{EXPLORER}/', 'href="/')
    check_inert(linked)
    return unescape(Checked(linked).shown)


def test_a_notebook_shows_slots_reasons_and_recollections(plain: Handle) -> None:
    plain.predicates.declare("lives_in", cardinality="ONE")
    belief = plain.observe("Ada", "lives_in", "Porto", note="She wrote it").belief_id
    memory = str(plain.remember("Ada lives in Porto.").memory_id)
    slot = shown(plain.current("Ada", "lives_in"))
    assert "● current Porto 0.80" in " ".join(slot.split())
    assert "Nothing is known." in shown(plain.current("Ada", "plays"))
    why = plain.why(belief)
    for text in ("Ada lives in Porto", "She wrote it", belief, "last affirmed 0.8000"):
        assert text in shown(why)
    assert f'href="{EXPLORER}/item?id={belief}"' in views.fragment(why, EXPLORER)
    assert "stated 1 time" in shown(plain.why(memory))
    assert "Ada lives in Porto" in shown(plain.recall("Where does Ada live?"))
    assert "Nothing is returned" in shown(plain.recall("zebra", kinds=["episode"]))


def test_two_hundred_hostile_texts_are_inert_in_views(plain: Handle) -> None:
    texts = write_hostile(plain)
    assert "100 more values" in shown(plain.current("Ada", "is"))
    for text in texts[::7]:
        slot = plain.current(text, "is")
        assert slot.leader is not None
        shown(slot)
        shown(plain.why(slot.leader.belief_id))
    for one in plain.memories.list(limit=300).memories[::7]:
        shown(plain.why(one.id))
        shown(plain.recall(one.content, limit=5))


def test_the_style_is_scoped_and_loads_nothing() -> None:
    style = views.style()
    assert style.startswith(".graphmem-view {")
    assert style.count("{") == style.count("}")
    assert "prefers-color-scheme: dark" in style
    assert not re.search(r"https?:|@import|url\(|</|:root", style)


def test_a_notebook_without_jinja_shows_the_repr() -> None:
    code = """
import sys
sys.modules["jinja2"] = None
from graphmem import Recollection
assert Recollection(bites=())._repr_html_() is None
"""
    subprocess.run([sys.executable, "-c", code], check=True)
