"""Neo4j Browser in a headless Chromium, if it is installed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.plugins.server import nothing_may_be_skipped

if TYPE_CHECKING:
    from bench import browser


@pytest.fixture(scope="module")
def window() -> Iterator[browser.Window]:
    """A page without any history."""
    from bench import browser  # not in the source distribution

    executable = browser.chromium()
    if executable is None:
        message = "Chromium is not on the PATH; run: apt-get install chromium fonts-dejavu-core"
        if nothing_may_be_skipped():
            pytest.fail(message, pytrace=False)
        pytest.skip(message)
    with browser.context(executable) as context:
        yield browser.Window(context.new_page())
