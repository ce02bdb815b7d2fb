"""Style of Neo4j Browser: captions and colours of our nodes."""

from __future__ import annotations

import json
import re
from importlib import resources

_RULE = re.compile(r"^([\w.]+) \{\n((?: {2}.*\n)+)\}", re.MULTILINE)
_PROPERTY = re.compile(r'^ {2}([\w-]+): "?([^;"\n]+)"?;$', re.MULTILINE)


def style_sheet() -> str:
    """Return the style sheet of the package."""
    return (resources.files("graphmem") / "data" / "browser.grass").read_text("utf-8")


def style_command() -> str:
    """Return the command of Browser that sets the style.

    Browser splits the commands of a server at semicolons, so it is JSON, which `style` reads too.
    """
    rules = {name: dict(_PROPERTY.findall(body)) for name, body in _RULE.findall(style_sheet())}
    return f"style {json.dumps(rules, separators=(',', ':'))}"
