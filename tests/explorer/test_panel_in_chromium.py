"""The panel of an MCP host in a headless Chromium, with a host of its protocol."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from graphmem import Handle
from graphmem.explorer import views
from graphmem.mcp.panels import HTML
from tests.explorer.conftest import write_hostile
from tests.explorer.test_explorer_in_chromium import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["chromium"]
pytestmark = pytest.mark.system
HOST = """([panel, params]) => new Promise((done) => {
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts";
  frame.width = "700";
  window.received = [];
  const send = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
  window.result = (params) => send({ method: "ui/notifications/tool-result", params });
  addEventListener("message", ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    received.push(data);
    if (data.method === "ui/initialize") {
      const own = { hostInfo: { name: "t", version: "1" }, hostCapabilities: {}, hostContext: {} };
      send({ id: data.id, result: { protocolVersion: data.params.protocolVersion, ...own } });
    }
    if (data.method === "ui/notifications/size-changed") frame.height = data.params.height;
    if (data.method === "ui/notifications/initialized") { result(params); done(); }
  });
  frame.srcdoc = panel;
  document.body.append(frame);
})"""
"""A host: it loads the panel into a sandbox, answers it, and sends it a result."""
FORGED = """<p>forged</p><script>parent.postMessage("ran", "*")</script>
<img src="http://evil.example/x.png" onerror="parent.postMessage('ran', '*')">
<iframe srcdoc="<script>parent.parent.postMessage('ran', '*')</script>"></iframe>
<a href="javascript:parent.postMessage('ran', '*')">go</a><style>p { color: red }</style>"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_host_shows_reasons_and_slots(
    chromium: Browser, plain: Handle, tmp_path: Path, scheme: Any
) -> None:
    belief = plain.observe("Ada", "lives_in", "Porto", note="She wrote it").belief_id
    texts = write_hostile(plain)
    away, refused = list[str](), list[tuple[str, str | None]]()
    context = chromium.new_context(color_scheme=scheme, viewport={"width": 760, "height": 900})
    page = context.new_page()
    page.on("request", lambda one: away.append(one.url))
    page.on("requestfailed", lambda one: refused.append((one.url, one.failure)))
    page.on("dialog", lambda one: away.append(one.message))

    def sent(found: Any) -> dict[str, Any]:
        return {"content": [], "_meta": {HTML: views.fragment(found, "https://memory.example")}}

    page.evaluate(HOST, [views.panel(), sent(plain.why(belief))])
    panel = page.frame_locator("iframe")
    panel.get_by_role("heading", name="Ada lives in Porto").wait_for()
    panel.get_by_text("She wrote it").wait_for()
    page.screenshot(path=tmp_path / "why.png")
    panel.get_by_role("link", name=belief).click()
    opened = {"url": f"https://memory.example/item?id={belief}"}
    page.wait_for_function("received.some((one) => one.method === 'ui/open-link')")
    assert opened in [one["params"] for one in page.evaluate("received") if "params" in one]

    for text in texts[::20]:
        page.evaluate("(params) => result(params)", sent(plain.current(text, "is")))
        panel.locator(".value").first.wait_for()
        assert panel.locator("#shown :is(script, img, iframe, form, [onerror])").count() == 0
    page.evaluate("(params) => result(params)", {"content": [{"type": "text", "text": "<b>"}]})
    panel.get_by_text("<b>").wait_for()

    assert [one for one in away if not one.startswith("about:")] == []

    # Even markup that were not escaped could do nothing.
    page.evaluate("(params) => result(params)", {"_meta": {HTML: FORGED}})
    panel.get_by_text("forged").wait_for()
    panel.get_by_text("go").click()
    colour = panel.get_by_text("forged").evaluate("one => getComputedStyle(one).color")
    page.wait_for_timeout(500)
    assert colour != "rgb(255, 0, 0)"
    received = page.evaluate("received")
    assert "ran" not in received
    assert [one["params"] for one in received if one.get("method") == "ui/open-link"] == [opened]
    # Chromium reports a request that the policy forbids, and does not send it.
    assert refused == [("http://evil.example/x.png", "csp")]
    assert [one for one in away if not one.startswith("about:")] == ["http://evil.example/x.png"]
    context.close()
