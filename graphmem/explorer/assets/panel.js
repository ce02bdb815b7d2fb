"use strict";
// The panel of an MCP host. It shows the HTML that the server made of a result; the policy of the
// panel runs no other script than this one.

const HTML = "graphmem.html";
const shown = document.getElementById("shown");
const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");

function show({ _meta: meta = {}, content = [] }) {
  if (typeof meta[HTML] === "string") shown.innerHTML = meta[HTML];
  else shown.textContent = content.map((part) => part.text ?? "").join("\n");
}

addEventListener("message", ({ source, data }) => {
  if (source !== parent || data?.jsonrpc !== "2.0") return;
  if (data.id === "begin" && data.result) send({ method: "ui/notifications/initialized", params: {} });
  else if (data.method === "ui/notifications/tool-result") show(data.params);
  else if (data.method === "ping" || data.method === "ui/resource-teardown") send({ id: data.id, result: {} });
});

addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link) return;
  event.preventDefault();
  if (!/^https?:/.test(link.href)) return;
  send({ id: "open", method: "ui/open-link", params: { url: link.href } });
});

new ResizeObserver(() => {
  const height = Math.ceil(document.body.getBoundingClientRect().height);
  send({ method: "ui/notifications/size-changed", params: { height } });
}).observe(document.body);

send({
  id: "begin",
  method: "ui/initialize",
  params: {
    appInfo: { name: "graphmem", version: document.body.dataset.version },
    appCapabilities: {},
    protocolVersion: "2026-01-26",
  },
});
