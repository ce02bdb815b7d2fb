import assert from "node:assert/strict";
import { test } from "node:test";
import { generateText, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import { MockLanguageModelV4, convertArrayToReadableStream } from "ai/test";
import { z } from "zod";
import { graphmem } from "@graphmem/client";
import { memory } from "@graphmem/client/ai";

const client = graphmem({ baseUrl: process.env.GM_URL!, key: process.env.GM_KEY! });
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const stop = { unified: "stop", raw: "stop" } as const;
const fact = "Alice prefers green tea to coffee.";

function reply(text: string) {
  return { content: [{ type: "text" as const, text }], finishReason: stop, usage, warnings: [] };
}

/** Returns what a session has recorded. */
async function turns(session: string): Promise<string[]> {
  const query = { session_id: session };
  const found = await client.GET("/v1/episodes", { params: { query } });
  assert(found.data, JSON.stringify(found.error));
  const [episode] = found.data.episodes;
  if (episode === undefined) return [];
  const path = { episode_id: episode.id };
  const read = await client.GET("/v1/episodes/{episode_id}/turns", { params: { path } });
  assert(read.data);
  return read.data.turns.map((turn) => `${turn.role}: ${turn.text}`);
}

/** Returns the parts of the last user message that a model received. */
function received(call: MockLanguageModelV4["doGenerateCalls"][number] | undefined): string[] {
  const message = call?.prompt.findLast(({ role }) => role === "user");
  assert(message && typeof message.content !== "string");
  return message.content.map((part) => (part.type === "text" ? part.text : part.type));
}

test.before(async () => {
  const stored = await client.POST("/v1/memories", { body: { content: fact } });
  assert.equal(stored.error, undefined);
});

test("an answer has the block, and the turns are recorded without it", async () => {
  const mock = new MockLanguageModelV4({ doGenerate: [reply("Green tea."), reply("Yes.")] });
  const model = wrapLanguageModel({ model: mock, middleware: memory({ client, session: "a" }) });
  const asked = { role: "user" as const, content: "What does Alice drink?" };
  const { text } = await generateText({ model, system: "Be brief.", messages: [asked] });
  assert.equal(text, "Green tea.");
  const [block, question] = received(mock.doGenerateCalls[0]);
  assert.match(block!, /green tea to coffee/);
  assert.equal(question, "What does Alice drink?");
  assert.equal(mock.doGenerateCalls[0]?.prompt[0]?.content, "Be brief.");
  assert.deepEqual(await turns("a"), ["user: What does Alice drink?", "assistant: Green tea."]);

  const history = [asked, { role: "assistant" as const, content: "Green tea." }];
  const more = { role: "user" as const, content: "Are you sure about Alice's tea?" };
  await generateText({ model, messages: [...history, more] });
  assert.deepEqual((await turns("a")).slice(2), [`user: ${more.content}`, "assistant: Yes."]);
});

test("a stream is recorded when it ends", async () => {
  const stream = convertArrayToReadableStream([
    { type: "stream-start" as const, warnings: [] },
    { type: "text-start" as const, id: "1" },
    { type: "text-delta" as const, id: "1", delta: "Green " },
    { type: "text-delta" as const, id: "1", delta: "tea." },
    { type: "text-end" as const, id: "1" },
    { type: "finish" as const, finishReason: stop, usage },
  ]);
  const mock = new MockLanguageModelV4({ doStream: { stream } });
  const model = wrapLanguageModel({ model: mock, middleware: memory({ client, session: "b" }) });
  assert.equal(await streamText({ model, prompt: "Alice's drink?" }).text, "Green tea.");
  assert.match(received(mock.doStreamCalls[0])[0]!, /green tea to coffee/);
  assert.deepEqual(await turns("b"), ["user: Alice's drink?", "assistant: Green tea."]);
});

test("all steps of an answer have one block and are recorded once", async () => {
  const call = { type: "tool-call" as const, toolCallId: "1", toolName: "look", input: "{}" };
  const calling = { unified: "tool-calls", raw: undefined } as const;
  const mock = new MockLanguageModelV4({
    doGenerate: [{ ...reply(""), content: [call], finishReason: calling }, reply("Green tea.")],
  });
  const look = tool({ inputSchema: z.object({}), execute: async () => "a cup" });
  const model = wrapLanguageModel({ model: mock, middleware: memory({ client, session: "c" }) });
  const prompt = "What is in the cup of Alice?";
  await generateText({ model, tools: { look }, stopWhen: stepCountIs(3), prompt });
  assert.equal(mock.doGenerateCalls.length, 2);
  assert.deepEqual(received(mock.doGenerateCalls[0]), received(mock.doGenerateCalls[1]));
  assert.deepEqual(await turns("c"), [`user: ${prompt}`, "assistant: Green tea."]);
});

test("the model answers without a memory that fails", async () => {
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const gone = graphmem({ baseUrl: "http://127.0.0.1:9", key: "gm_x" });
  const denied = graphmem({ baseUrl: process.env.GM_URL!, key: "gm_x" });
  for (const one of [gone, denied]) {
    const mock = new MockLanguageModelV4({ doGenerate: reply("I do not know.") });
    const middleware = memory({ client: one, session: "d", onError });
    const model = wrapLanguageModel({ model: mock, middleware });
    const { text } = await generateText({ model, prompt: "What does Alice drink?" });
    assert.equal(text, "I do not know.");
    assert.deepEqual(received(mock.doGenerateCalls[0]), ["What does Alice drink?"]);
  }
  assert.equal(errors.length, 4);
  assert.equal((errors[3] as { code: string }).code, "unauthorized");
});
