"""Write docs/openapi.json, the description of the HTTP API.

Run it with `python -m tests.docs.openapi_document`, or `just api`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from graphmem.serve.app import Service, create_app
from graphmem.serve.document import openapi
from graphmem.settings import Settings

PAGE = Path(__file__).parents[2] / "docs" / "openapi.json"


@cache
def document() -> dict[str, Any]:
    """Return the document of this version."""
    return openapi(create_app(Service(Settings.load({}))))


if __name__ == "__main__":
    PAGE.write_text(json.dumps(document(), indent=1) + "\n", "utf-8")
