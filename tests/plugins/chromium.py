"""Neo4j Browser in a headless Chromium, where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.plugins.server import nothing_may_be_skipped

if TYPE_CHECKING:
    from bench import browser


@pytest.fixture(scope="module")
def window() -> Iterator[browser.Window]:
    """A page that was never anywhere."""
    from bench import browser  # not in the source distribution

    found = browser.chromium()
    if found is None:
        message = "no chromium on the PATH: apt-get install chromium fonts-dejavu-core"
        if nothing_may_be_skipped():
            pytest.fail(message, pytrace=False)
        pytest.skip(message)
    with browser.context(found) as context:
        yield browser.Window(context.new_page())
