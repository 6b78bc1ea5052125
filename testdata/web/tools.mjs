// What the browser tests share: a scratch repository, a server, an MCP client.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

export const work = process.env.WORK;

export const env = {
  PATH: process.env.PATH, HOME: join(work, "home"), GIT_CONFIG_NOSYSTEM: "1", LANG: "C.UTF-8",
  GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.com", GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.com",
};
mkdirSync(env.HOME, { recursive: true });

export function run(dir, command, ...args) {
  return execFileSync(command, args, { cwd: dir, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

// repository makes a repository whose two commits contain the files of first and of second.
export function repository(name, first, second) {
  const dir = join(work, name);
  mkdirSync(dir, { recursive: true });
  run(dir, "git", "init", "-q", "-b", "main");
  for (const files of [first, second]) {
    for (const [path, content] of Object.entries(files)) {
      if (content === null) {
        run(dir, "git", "rm", "-q", "--", path);
        continue;
      }
      mkdirSync(join(dir, path, ".."), { recursive: true });
      writeFileSync(join(dir, path), content);
    }
    run(dir, "git", "add", "-A");
    run(dir, "git", "commit", "-q", "-m", files === first ? "first" : "Change the things");
  }
  return dir;
}

const serving = new Set();
process.once("exit", () => { for (const child of serving) child.kill("SIGKILL"); }); // where a check fails as well

// serve starts the page's server, and returns its process and its address.
export async function serve(dir) {
  const child = spawn("git-runr", ["serve", "--json"], { cwd: dir, env, stdio: ["ignore", "pipe", "inherit"] });
  serving.add(child);
  for await (const line of createInterface({ input: child.stdout })) {
    const at = JSON.parse(line);
    return { child, url: at.login_url };
  }
  throw new Error("the server ended");
}

// end kills a server and waits until it is gone.
export function end(server) {
  const gone = new Promise((done) => server.child.once("exit", done));
  serving.delete(server.child);
  server.child.kill("SIGKILL");
  return gone;
}

// chat is an MCP client with its own server process, as for each chat of an agent.
export async function chat(dir, name) {
  const child = spawn("git-runr", ["mcp"], { cwd: dir, env, stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
  });
  let id = 0;
  const send = (method, params) => {
    id++;
    const answer = new Promise((done) => waiting.set(id, done));
    child.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n");
    return answer;
  };
  await send("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name, version: "1" } });
  child.stdin.write(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }) + "\n");
  return {
    async call(tool, args) {
      const answer = await send("tools/call", { name: tool, arguments: args });
      if (answer.error) throw new Error(JSON.stringify(answer.error));
      return { text: answer.result.content.map((c) => c.text).join("\n"), failed: Boolean(answer.result.isError), data: answer.result.structuredContent };
    },
    end() {
      child.stdin.end();
    },
  };
}

// lines returns a text of n lines.
export function lines(n, text) {
  return Array.from({ length: n }, (_, i) => text(i + 1)).join("\n") + "\n";
}

let checked = 0;

export function check(holds, what) {
  if (!holds) throw new Error(`not so: ${what}`);
  checked++;
}

export const checks = () => checked;
