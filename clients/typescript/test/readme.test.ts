import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";

const page = readFileSync("README.md", "utf8");

function block(kind: string): string {
  const found = page.match(new RegExp("```" + kind + "\\n([^]*?)```"))?.[1];
  assert(found);
  return found;
}

test("the example prints what the page shows", () => {
  const code = block("ts").replace("http://localhost:8766", process.env.GM_URL!);
  writeFileSync("test/example.ts", code);
  execFileSync("node", ["node_modules/typescript/bin/tsc", "-p", "test"], { stdio: "inherit" });
  const printed = execFileSync("node", ["test/example.ts"], { encoding: "utf8" });
  assert.equal(printed, block("text"));
});
