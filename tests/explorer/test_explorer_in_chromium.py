"""The explorer in a headless Chromium: a walk by keyboard, and every page at both widths."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from graphmem import Handle
from graphmem.settings import Settings
from tests.plugins.children import environ_of
from tests.plugins.server import nothing_may_be_skipped

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request

pytestmark = pytest.mark.system
MAY = datetime(2026, 5, 3, 9, tzinfo=UTC)
TABS = 80
"""Maximum number of presses of Tab to reach a control."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Chromium, if it is installed."""
    from playwright.sync_api import sync_playwright

    from bench import browser  # not in the source distribution

    executable = browser.chromium()
    if executable is None:
        if nothing_may_be_skipped():
            pytest.fail("Chromium is not on the PATH", pytrace=False)
        pytest.skip("Chromium is not on the PATH")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=[*browser.FLAGS])
        yield started
        started.close()


@pytest.fixture
def link(migrated: Settings, plain: Handle, tenant: str, tmp_path: Path) -> Iterator[str]:
    """The one-time link that a running server prints."""
    _write(plain)
    environ = environ_of(migrated, tenant) | {
        "GRAPHMEM_EMBEDDER": "hash",
        "GRAPHMEM_SERVE_KEYS": str(tmp_path / "keys.json"),
    }
    log = tmp_path / "log.txt"
    command = [sys.executable, "-m", "graphmem", "serve", "--port", "0"]
    with log.open("w") as errors:
        server = subprocess.Popen(command, env=environ, stderr=errors)
    try:
        for _ in range(600):
            assert server.poll() is None, log.read_text()
            if found := re.search(r"(http://\S+/login\?ticket=\S+)", log.read_text()):
                break
            time.sleep(0.1)
        else:
            raise AssertionError(log.read_text())
        yield found[1]
    finally:
        server.terminate()
        server.wait(60)


def _write(memory: Handle) -> None:
    memory.predicates.declare("lives_in", cardinality="ONE")
    with memory.session("spring") as session:
        receipt = session.add_messages(
            [{"role": "user", "name": "Ada", "content": "I live in Porto.", "at": MAY, "id": "1"}]
        )
        [turn], episode = receipt.turn_ids, session.episode_id
    quoted = {"turn_id": turn, "episode_id": episode}
    memory.observe("Ada", "lives_in", "Porto", at=MAY, **quoted)  # type: ignore[arg-type]
    memory.observe("Ada", "lives_in", "Faro", at=MAY + timedelta(days=40))
    memory.observe("Ada", "likes", "tea", confidence=0.9)
    memory.observe("Ada", "likes", "tea", kind="refuting", confidence=0.6, note="She stopped")
    memory.remember("The office has 12 desks.", tags=["office"])
    memory.remember("The office has 14 desks.", on_update="propose")


@contextmanager
def window(chromium: Browser, width: int, scheme: Any, link: str) -> Iterator[Page]:
    """Yield a page that may only ask this server, at its home."""
    start = link.partition("/login")[0]
    away = list[str]()
    context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.set_default_timeout(30_000)

    def seen(request: Request) -> None:
        if not request.url.startswith(start):
            away.append(request.url)

    page.on("request", seen)
    page.on("console", lambda one: away.extend([one.text] * (one.type == "error")))
    page.on("pageerror", lambda one: away.append(str(one)))
    yield page
    assert not away, away
    context.close()


def reach(page: Page, name: str) -> None:
    """Move the focus to a control by Tab."""
    said = "(one => one.ariaLabel || one.id || one.innerText)(document.activeElement)"
    for _ in range(TABS):
        page.keyboard.press("Tab")
        if (page.evaluate(said) or "").strip() == name:
            return
    raise AssertionError(f"{name} was not reached by keyboard")


def press(page: Page, name: str) -> None:
    """Follow a link or press a button by keyboard."""
    reach(page, name)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def ask(page: Page, question: str) -> None:
    """Search by keyboard."""
    reach(page, "q")
    page.keyboard.type(question)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="What the memory answers").wait_for()


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_a_person_corrects_a_fact_by_keyboard(
    chromium: Browser, link: str, width: int, scheme: str
) -> None:
    with window(chromium, width, scheme, link) as page:
        page.goto(link)
        page.get_by_role("heading", name="What it knows").wait_for()
        ask(page, "Where does Ada live?")
        press(page, "Ada lives in Faro")
        page.get_by_role("heading", name="How the number comes about").wait_for()
        press(page, "Where it comes from")
        page.get_by_role("heading", name="The same as a table").wait_for()
        press(page, "Ada lives in Faro")
        press(page, "Suppose")
        page.get_by_text("Then the test would be").wait_for()
        press(page, "all values of Ada · lives in")
        reach(page, "True on, as a slider")
        page.keyboard.press("Home")
        page.get_by_text("This is the past").wait_for()
        press(page, "Back to now")
        page.get_by_text("This is the past").wait_for(state="detached")
        press(page, "This is wrong: Faro")
        page.keyboard.type("Braga")
        page.keyboard.press("Tab")
        page.keyboard.type("She moved again")
        press(page, "Preview")
        page.get_by_role("heading", name="Afterwards").wait_for()
        press(page, "Put it right")
        page.get_by_text("Done: the memory has your correction.").wait_for()
        ask(page, "Where does Ada live?")
        assert "Ada lives in Braga" in page.locator(".results").first.inner_text()
        press(page, "step by step")
        page.get_by_role("heading", name="In the block").wait_for()
        assert "Ada lives in Braga" in page.locator(".ways").first.inner_text()
        press(page, "Review")
        press(page, "Accept: The office has 14 desks.")
        page.get_by_text("Replace").wait_for(state="detached")


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
def test_a_person_erases_a_memory_by_keyboard(
    chromium: Browser, link: str, width: int, scheme: str
) -> None:
    with window(chromium, width, scheme, link) as page:
        page.goto(link)
        ask(page, "How many desks has the office?")
        press(page, "The office has 14 desks.")
        press(page, "Erase")
        page.get_by_role("heading", name="What goes").wait_for()
        assert "The office has 14 desks." in page.locator(".diff").inner_text()
        reach(page, "reason")
        page.keyboard.type("asked for by Ada")
        reach(page, "confirm")
        page.keyboard.type("no")
        press(page, "Erase")
        page.get_by_role("alert").get_by_text("cannot be taken back").wait_for()
        reach(page, "confirm")
        page.keyboard.type("erase")
        press(page, "Erase")
        page.get_by_text("A second search found nothing of it.").wait_for()
        page.get_by_role("heading", name="Receipt").wait_for()
        ask(page, "How many desks has the office?")
        assert "14 desks" not in page.locator("main").inner_text()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_readable_and_accessible(
    chromium: Browser, link: str, plain: Handle, width: int, scheme: str, tmp_path: Path
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    belief = plain.current("Ada", "likes").candidates[0].belief_id
    [memory, *_] = plain.memories.list().memories
    [episode] = plain.episodes.list().episodes
    [turn] = plain.episodes.turns(episode.id).turns
    start = link.partition("/login")[0]
    plan = f"/correct?id={belief}&step=preview&how=never&reason=x&right=water"
    items = [f"/item?id={one}" for one in (belief, memory.id, episode.id, turn.id)]
    paths = ["/", "/search?q=Where+does+Ada+live", "/slot?subject=Ada&predicate=lives_in"]
    paths += ["/replay?q=Where+does+Ada+live", f"/graph?id={belief}", f"/graph?id={turn.id}"]
    paths += ["/review", "/usage", "/jobs", f"/erase?id={memory.id}"]
    with window(chromium, width, scheme, link) as page:
        page.goto(f"{start}/login")
        for number, path in enumerate(["/login", *paths, *items, f"/correct?id={belief}", plan]):
            if number == 1:
                page.goto(link)
                page.get_by_role("heading", name="What it knows").wait_for()
            else:
                page.goto(start + path)
            page.evaluate("document.querySelectorAll('main details').forEach(it => it.open = true)")
            found = Axe().run(page).response["violations"]
            assert [one["id"] for one in found] == [], (path, found)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            page.screenshot(path=tmp_path / f"{number}.png", full_page=True)
