"""Results on their own, without a server: in notebooks, and in panels of MCP hosts."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from typing import Any

from markupsafe import Markup

from graphmem.explorer import pages, pictures, rendering, status
from graphmem.model import BeliefReasons, Cardinality, MemoryReasons, Recollection, Slot


def fragment(found: Any, explorer: str | None = None) -> str:
    """Return a slot, reasons or a recollection as HTML, to be shown with `style`.

    Args:
        found: the result.
        explorer: address of the explorer, where ids lead; None: ids are text.
    """
    base = None if explorer is None else explorer.rstrip("/")
    return rendering.page("view", base=base, **_values(found))


def document(found: Any) -> str:
    """Return a result as HTML with its style, for a notebook."""
    return f"<style>{style()}</style>\n{fragment(found)}"


@cache
def panel() -> str:
    """Return the page in which an MCP host shows fragments.

    Its policy allows its own script and style only, so that markup in a fragment could do nothing.
    """
    script = rendering.asset("panel.js").decode()
    rules = f"body {{ margin: 0; }}\n{style()}"
    policy = (
        f"default-src 'none'; script-src {_source(script)}; style-src {_source(rules)}; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {"script": Markup(script), "style": Markup(rules)}  # noqa: S704 - files of the package
    return rendering.page("panel", policy=policy, **parts)


def _source(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


@cache
def style() -> str:
    """Return the style of the pages, for the inside of a view only."""
    rules = rendering.asset("explorer.css").decode().replace(":root", "&")
    own = (
        "background: var(--page); color: var(--ink); padding: .75rem 1rem; overflow-wrap: anywhere;"
    )
    return f".graphmem-view {{ {own}\n{rules}}}"


def _values(found: Any) -> dict[str, Any]:
    match found:
        case Slot():
            one = found.cardinality is Cardinality.ONE
            values = [*pages.standings(found)]
            return {"kind": "slot", "slot": found, "one": one, "values": values}
        case BeliefReasons():
            standing = status.of_reasons(found)
            shown = {"why": found, "standing": standing, "bars": pictures.bars(found)}
            return {"kind": "belief"} | shown
        case MemoryReasons():
            standing = status.of_status(found.memory.status)
            return {"kind": "memory", "why": found, "standing": standing}
        case Recollection():
            return {"kind": "recall", "found": found, "shown": pages.results(found.bites)}
    raise TypeError(f"No view of {type(found).__name__}.")
