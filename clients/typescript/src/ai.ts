import type { LanguageModelMiddleware } from "ai";
import type { Graphmem } from "./index.js";

type Call = Parameters<NonNullable<LanguageModelMiddleware["transformParams"]>>[0]["params"];
type Message = Call["prompt"][number];

export interface MemoryOptions {
  client: Graphmem;
  /** Id of the conversation, which is recorded under it. */
  session: string;
  /** Milliseconds that the model waits for the memory. */
  timeout?: number;
  /** Called when the memory fails; the model answers without it. */
  onError?: (error: unknown) => void;
}

/**
 * Returns a middleware that adds what the memory knows to the user's last message, and records the
 * conversation after each answer. Nothing that it added is recorded.
 */
export function memory(options: MemoryOptions): LanguageModelMiddleware {
  const { client, session, timeout = 5_000, onError = console.warn } = options;
  const originals = new WeakMap<Call, Call["prompt"]>();
  let last: { about: string; block: string } | undefined;

  /** Returns the block for a question, the same one in all steps of its answer. */
  async function block(about: string): Promise<string> {
    if (last?.about !== about) {
      const signal = AbortSignal.timeout(timeout);
      const { data, error } = await client.POST("/v1/context", { body: { about }, signal });
      if (data === undefined) throw error;
      last = { about, block: data.text };
    }
    return last.block;
  }

  async function record(params: Call, reply: string, reason: string | undefined): Promise<void> {
    if (reason === "tool-calls" || reply === "") return;
    const said = (originals.get(params) ?? params.prompt).flatMap(({ role, ...message }) => {
      const content = text({ role, ...message } as Message);
      return (role === "user" || role === "assistant") && content ? [{ role, content }] : [];
    });
    try {
      const { error } = await client.POST("/v1/sessions/{session_id}/messages", {
        params: { path: { session_id: session } },
        body: { messages: [...said, { role: "assistant", content: reply }] },
        signal: AbortSignal.timeout(timeout),
      });
      if (error !== undefined) throw error;
    } catch (error) {
      onError(error);
    }
  }

  return {
    specificationVersion: "v4",
    async transformParams({ params }) {
      const at = params.prompt.findLastIndex((message) => message.role === "user");
      const asked = params.prompt[at];
      if (asked?.role !== "user" || text(asked) === "") return params;
      let known = "";
      try {
        known = await block(text(asked));
      } catch (error) {
        onError(error);
      }
      const content = [{ type: "text" as const, text: known }, ...asked.content];
      const prompt = known === "" ? params.prompt : params.prompt.with(at, { ...asked, content });
      const changed = { ...params, prompt };
      originals.set(changed, params.prompt);
      return changed;
    },
    async wrapGenerate({ doGenerate, params }) {
      const result = await doGenerate();
      const parts = result.content.map((part) => (part.type === "text" ? part.text : ""));
      await record(params, parts.join(""), result.finishReason.unified);
      return result;
    },
    async wrapStream({ doStream, params }) {
      const { stream, ...rest } = await doStream();
      let reply = "";
      let reason: string | undefined;
      const recording = new TransformStream<Chunk<typeof stream>, Chunk<typeof stream>>({
        transform(chunk, controller) {
          if (chunk.type === "text-delta") reply += chunk.delta;
          if (chunk.type === "finish") reason = chunk.finishReason.unified;
          controller.enqueue(chunk);
        },
        flush: () => record(params, reply, reason),
      });
      return { stream: stream.pipeThrough(recording), ...rest };
    },
  };
}

type Chunk<S> = S extends ReadableStream<infer C> ? C : never;

function text(message: Message): string {
  if (typeof message.content === "string") return message.content;
  return message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
}
