"""Neo4j Browser in a headless Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Locator, Page

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE_MS = 60_000
SETTLED_MS = 3_000
"""Time until the layout of the graph has settled, in milliseconds."""
SIZE = {"width": 1400, "height": 1000}
DROPPED = """([name, bytes]) => {
    const given = new DataTransfer();
    given.items.add(new File([new Uint8Array(bytes)], name));
    return given;
}"""
KEPT = "word => Object.values(localStorage).some(kept => kept.includes(word))"


def chromium() -> str | None:
    """Return the path of Chromium; None if it is not installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


@dataclass(frozen=True)
class Drawn:
    """Contents of a drawn graph."""

    captions: tuple[str, ...]
    """Caption of each node, with its lines joined."""
    edges: Counter[str]
    """Number of relationships by caption."""


@contextmanager
def context(executable: str) -> Iterator[BrowserContext]:
    """Yield a Chromium context without any stored state."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=[*FLAGS])
        try:
            browser_context = started.new_context(viewport=SIZE, device_scale_factor=1)  # type: ignore[arg-type]
            browser_context.set_default_timeout(PATIENCE_MS)
            yield browser_context
        finally:
            started.close()


class Window:
    """One page of Neo4j Browser."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def open(self, link: str, password: str) -> None:
        """Open a link; log in if asked."""
        self._page.goto("about:blank")
        self._page.goto(link)
        entry = self._page.get_by_test_id("password")
        # The frame that Browser shows after connecting, above any other content.
        playing = self._page.get_by_test_id("frame").filter(has_text=":play start").first
        entry.or_(playing).first.wait_for()
        if not playing.is_visible():
            entry.fill(password)
            self._page.get_by_test_id("connect").click()
            playing.wait_for()

    def drop(self, file: Path, word: str) -> None:
        """Drop a file on the window; wait until Browser has stored text that contains `word`."""
        given = self._page.evaluate_handle(DROPPED, [file.name, [*file.read_bytes()]])
        self._page.dispatch_event(".filedrop", "drop", {"dataTransfer": given})
        self._page.wait_for_function(KEPT, arg=word)

    def saved(self, folder: str) -> list[str]:
        """Return the names of the saved queries in a folder."""
        self._page.get_by_test_id("navigationFavorites").click()
        self._page.get_by_test_id(f"expandFolder-{folder}").click()
        names = self._page.locator('[draggable] [data-testid^="scriptTitle-"]')
        names.first.wait_for()
        return sorted(text.strip().splitlines()[0] for text in names.all_inner_texts())

    def write(self, text: str) -> None:
        """Replace the text of the editor."""
        self._page.locator(".monaco-editor").first.click()
        self._page.keyboard.press("Control+A")
        self._page.keyboard.insert_text(text)

    def command(self, text: str) -> None:
        """Run commands of Browser, several on a line, and wait until they end."""
        self.write(text)
        self._page.get_by_test_id("editor-Run").click()
        done = self._page.get_by_test_id("frame").first.get_by_title("Status: success")
        done.nth(text.count(";")).wait_for()

    def run(self) -> Drawn:
        """Run the query in the editor; return the drawn graph once its layout has settled."""
        self._page.get_by_test_id("editor-Run").click()
        self._graph.locator("g.node").first.wait_for()
        self._page.wait_for_timeout(SETTLED_MS)
        captions = tuple(
            " ".join(" ".join(node.locator("text").all_text_contents()).split())
            for node in self._graph.locator("g.node").all()
        )
        edges = self._graph.locator("g.relationship text").all_text_contents()
        return Drawn(captions, Counter(edges))

    @property
    def _graph(self) -> Locator:
        return self._frame.locator("svg.neod3viz")

    @property
    def _frame(self) -> Locator:
        drawing = self._page.locator("svg.neod3viz")
        return self._page.get_by_test_id("frame").filter(has=drawing).first

    def shoot(self, file: Path) -> None:
        """Save a screenshot of the newest result."""
        self._frame.screenshot(path=str(file))
