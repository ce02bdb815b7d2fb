// Record two facts and ask for the one of March: GM_KEY=… node ask.ts
import { graphmem } from "@graphmem/client";

const memory = graphmem({
  baseUrl: process.env.GM_URL ?? "http://localhost:8766",
  key: process.env.GM_KEY!,
});

for (const [at, object] of [["2025-01-07", "Frankfurt"], ["2025-05-06", "Dublin"]] as const) {
  const body = { subject: "shop", predicate: "deploys_from", object, at: `${at}T00:00:00Z` };
  const { error } = await memory.POST("/v1/beliefs/observe", { body });
  if (error) throw new Error(error.detail);
}

const query = { subject: "shop", predicate: "deploys_from", as_of: "2025-03" };
const { data, error } = await memory.GET("/v1/beliefs/current", { params: { query } });
if (error) throw new Error(error.detail);
console.log("In March:", data.leader?.object);
