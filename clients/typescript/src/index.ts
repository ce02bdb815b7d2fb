import createClient, { type Client } from "openapi-fetch";
import type { components, paths } from "./schema.js";

/** Records of graphmem, by name: `Schema["ContextBlock"]`. */
export type Schema = components["schemas"];
export type Graphmem = Client<paths>;

export interface Options {
  /** Address of `graphmem serve`. */
  baseUrl: string;
  /** Key that `graphmem serve keys create` printed. */
  key: string;
  /** Scope to write to, one that the key grants; by default the first that the key names. */
  scope?: string;
  fetch?: (request: Request) => Promise<Response>;
}

/** Returns a client whose calls have the paths, parameters and results of the HTTP API. */
export function graphmem({ baseUrl, key, scope, fetch }: Options): Graphmem {
  const headers: Record<string, string> = { Authorization: `Bearer ${key}` };
  if (scope !== undefined) headers["Graphmem-Scope"] = scope;
  return createClient<paths>({ baseUrl: baseUrl.replace(/\/+$/, ""), headers, fetch });
}
