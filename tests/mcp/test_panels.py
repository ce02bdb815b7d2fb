"""MCP Apps: what a host with the extension gets, and that others see nothing of it."""

from __future__ import annotations

import pytest
from mcp.types import TextResourceContents

from graphmem import Handle
from graphmem.explorer import views
from graphmem.mcp.panels import HTML, TOOLS, URI
from graphmem.settings import Settings
from tests.explorer.conftest import EVIL, check_inert
from tests.mcp.conftest import Opened, answer, text_of
from tests.plugins.loops import run_apart as run

LOADED = ("connectDomains", "resourceDomains", "frameDomains", "baseUriDomains")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_host_with_panels_gets_their_page_and_their_html(
    opened: Opened, settings: Settings, plain: Handle, mode: str
) -> None:
    belief = plain.observe(EVIL[0], "likes", EVIL[1], note=EVIL[2]).belief_id
    memory = str(plain.remember(f"{EVIL[3]} {EVIL[5]}").memory_id)
    known = settings.model_copy(update={"explorer": "https://memory.example"})

    async def session() -> None:
        async with opened(mode=mode, panels=True, known=known) as client:
            listed = (await client.list_tools()).tools
            marked = {tool.name: tool.meta for tool in listed if tool.meta}
            assert marked == {name: {"ui": {"resourceUri": URI}} for name in TOOLS}
            [resource] = (await client.list_resources()).resources
            [page] = (await client.read_resource(URI)).contents
            assert isinstance(page, TextResourceContents)
            for one in (resource, page):
                assert (str(one.uri), one.mime_type) == (URI, "text/html;profile=mcp-app")
                assert one.meta is not None
                assert one.meta["ui"]["csp"] == {kind: [] for kind in LOADED}
            assert page.text == views.panel()
            for name, given in {
                "why": {"item_id": belief},
                "current": {"subject": EVIL[0], "predicate": "likes"},
            }.items():
                found = await answer(client, name, given)
                assert found.meta is not None
                html = found.meta[HTML].replace('href="https://memory.example/', 'href="/')
                assert f'href="/item?id={belief}"' in html
                check_inert(html)
                assert "<section" not in text_of(found)
            found = await answer(client, "why", {"item_id": memory})
            assert found.meta is not None
            assert memory in found.meta[HTML]
            found = await answer(client, "recall", {"query": "likes"})
            assert HTML not in (found.meta or {})

    run(session())


def test_a_host_without_panels_sees_nothing_of_them(opened: Opened, plain: Handle) -> None:
    belief = plain.observe("Ada", "likes", "tea").belief_id

    async def session() -> None:
        async with opened() as client:
            assert not any(tool.meta for tool in (await client.list_tools()).tools)
            assert (await client.list_resources()).resources == []
            found = await answer(client, "why", {"item_id": belief})
            assert HTML not in (found.meta or {})

    run(session())
