// Runs in a browser: the page shows the progress of a run, and its actions work.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { check, end, env, repository, run, serve, work } from "./tools.mjs";

// The agents: one adds a line in each attempt, the other asks for changes unless HOME/content exists. Both print
// text. If HOME/wait exists, both wait for HOME/go.
const talk = `echo "$0 looks around"; i=0; while [ -e "$HOME/wait" ]; do i=$((i+1)); echo "$0 thinks, $i"; sleep 0.2; done`;
const agents = `
[agents.worker]
command = ["sh", "-c", '''cat >/dev/null; ${talk}; echo "more" >>work.txt; echo "## TASK COMPLETE"''', "worker"]

[agents.lazy]
command = ["sh", "-c", "cat >/dev/null; echo I see nothing to do."]

[agents.strict]
command = ["sh", "-c", '''n=$(sed -n 's/^----- BEGIN CHANGE \\(.*\\) -----$/\\1/p'); ${talk}
a='{"verdict":"NEEDS_FIX","summary":"","findings":[{"severity":"warning","file":"work.txt","line":1,"issue":"Too little","fix":"Write more"}]}'
[ ! -e "$HOME/content" ] || a='{"verdict":"PASS","summary":"Good.","findings":[]}'
printf '\`\`\`runr-review %s\\n%s\\n\`\`\`\\n' "$n" "$a"''', "strict"]
`;

const flag = (name, on) => (on ? writeFileSync(join(env.HOME, name), "") : rmSync(join(env.HOME, name), { force: true }));

// runsOf makes a repository, and returns functions that start runs in it: stopped, asking, done or running ones.
export function runsOf(name) {
  mkdirSync(join(env.HOME, ".config", "git-runr"), { recursive: true });
  writeFileSync(join(env.HOME, ".config", "git-runr", "config.toml"), agents);
  const dir = repository(name, { "a.txt": "one\n", "greet.md": "# Greet people\n\nWrite work.txt.\n" }, { "a.txt": "two\n" });
  const args = ["run", "greet.md", "--reviewer", "strict", "--json"];
  const begin = (content, implementer, ...more) => {
    flag("content", content);
    let out;
    try {
      out = run(dir, "git-runr", ...args, "--implementer", implementer, ...more);
    } catch (err) {
      out = err.stdout; // it stopped
    }
    flag("content", false);
    return JSON.parse(out).run_id;
  };
  return {
    dir,
    asking: (...more) => begin(false, "worker", ...more),
    stopped: () => begin(false, "lazy"),
    done: () => begin(true, "worker"),
    // running starts a run that works until let() is called.
    running() {
      flag("wait", true);
      const child = spawn("git-runr", [...args, "--implementer", "worker"], { cwd: dir, env, stdio: "ignore" });
      const over = new Promise((done) => child.once("exit", done));
      return { over, let: () => (flag("wait", false), flag("content", true)), end: () => child.kill("SIGKILL") };
    },
  };
}

export async function runs(browser, open, clean) {
  const made = runsOf("runs");
  const { dir } = made;
  const server = await serve(dir);
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await open(context, server.url);
  const visit = (id) => page.goto(new URL(`/run/${id}`, server.url).href);
  const line = (text) => page.locator(".line, .todo li").filter({ hasText: text });
  const pill = (text) => page.waitForFunction((t) => document.querySelector(".pill").textContent === t, text);
  const told = (id) => JSON.parse(run(dir, "git-runr", "show", id, "--json"));

  // The present step. The run begins after the list was loaded and before the list listens for changes.
  let listen;
  const begun = new Promise((done) => (listen = done));
  await page.route("**/api/events*", (route) => begun.then(() => route.continue()));
  await page.goto(new URL("/runs", server.url).href);
  const going = made.running();
  while (!run(dir, "git", "log", "--glob=refs/runr/log/*").includes("attempt_started")) await new Promise((done) => setTimeout(done, 100));
  listen();
  await page.waitForFunction(() => document.querySelector(".pill")?.textContent === "live");
  await page.unroute("**/api/events*");
  await page.click(".list .title");
  await page.waitForSelector(".now .log");
  check((await page.textContent("#now-what")).includes("Attempt 1") && (await page.textContent(".now .meta")).includes("by worker"), "the step and its agent are told");
  const first = { said: await page.textContent(".now .log"), took: await page.textContent(".now .for") };
  await page.evaluate(() => (window.same = true));
  await page.waitForFunction((was) => document.querySelector(".now .log").textContent !== was.said && document.querySelector(".now .for").textContent !== was.took, first);
  check(await page.evaluate(() => window.same), "what it says and how long it takes go on without a load");
  check((await page.textContent("#course")).includes("going on"), "an attempt that is being made was not broken off");
  going.let();
  await going.over;
  await pill("completed");
  check((await page.locator(".now").count()) === 0 && (await page.evaluate(() => window.same)), "its end is shown as it comes");
  check((await page.locator("#between .file").count()) === 1, "and what came of it");

  // Landing, on another branch, as one commit; and on the branch that is checked out.
  run(dir, "git", "branch", "other");
  await page.reload();
  await page.click(".act > summary");
  await page.check('[name="squash"]');
  await page.selectOption('[name="onto"]', "other");
  check((await line("git runr land").locator(".cmd code").first().textContent()).endsWith("--onto other --squash"), "the line says what was chosen");
  await page.click('form.act[action$="/land"] button');
  await page.waitForFunction(() => document.querySelector("#state").textContent.includes("on other"));
  check(run(dir, "git", "log", "-1", "--format=%B", "other").includes("Greet"), "it has landed on the other branch");
  await visit(made.done());
  await page.click(".act > summary");
  await page.click('form.act[action$="/land"] button');
  await page.waitForFunction(() => document.querySelector("#state").textContent.includes("on main"));

  // The question to a person.
  const asked = made.asking("--max-retries", "1");
  await visit(asked);
  check((await page.textContent(".diagnosis")).includes("Attempt 2 of 2") && (await page.textContent("#course")).includes("(attempt 2 of 2)"), "which attempt of how many is told");
  check(!(await page.textContent("main")).match(/round \d+\/\d+/), "and no round of fewer");
  await page.selectOption('[name="from"]', "1");
  await page.selectOption('[name="to"]', "2");
  await page.click("#between button");
  await page.waitForURL(/from=1/);
  check((await page.locator("#between tr.a").count()) === 1, "any two attempts are compared");

  // A comment on a line is for the next attempt, in the editor of reviews. It is there after a reload.
  await page.locator("#between tr.a td.ln:nth-child(2)").click();
  check(await page.locator(".editor select").isHidden(), "a comment on a run has no weight");
  await page.fill(".editor textarea", "Say **less** here.");
  await page.reload();
  await page.waitForSelector(".editor textarea");
  check((await page.inputValue(".editor textarea")) === "Say **less** here.", "what is being written is kept by the browser");
  await page.click(".editor button.go");
  await page.waitForSelector("#between .remark .md strong");
  check((await page.locator("#between .remark details.respond, #between .remark [data-do=copy-agent]").count()) === 0, "and offers nothing that only a review has");
  await page.reload();
  check((await page.textContent("#between tr.a + tr.notes .remark")).includes("Say less here."), "it is shown at its line");
  check(/work\.txt:\d: Say \*\*less\*\* here\./.test(await page.textContent("#course")), "and in the timeline");
  check(JSON.stringify(told(asked)).includes('"selected_text":"more"'), "and its lines are recorded");
  await clean(page, "a comment on a run");

  await page.click("text=Intervene …");
  await page.fill('[name="note"]', "I wrote it\nby hand.");
  writeFileSync(join(dir, "a.txt"), "three\n");
  await page.click('form.act[action$="/intervene"] button');
  await page.waitForFunction(() => document.querySelector("#course").textContent.includes("I wrote it"));
  flag("content", true);
  await page.click('form.act[action$="/resume"] button');
  await pill("completed");
  flag("content", false);
  check((await page.textContent("#course")).includes("attempt 3"), "the comment led to another attempt");
  check((await page.locator("[role=status]", { hasText: "being resumed" }).count()) === 0, "a run that was resumed is not shown as waiting");

  await visit(made.asking("--max-retries", "0"));
  await page.click("text=Accept");
  await pill("completed");
  await visit(made.asking("--max-retries", "0"));
  check((await page.locator("button", { hasText: "stopped" }).count()) === 0, "what would change nothing is no button");
  await page.click("text=Abort …");
  check((await page.textContent("details.act[open]")).includes("given up"), "what is given up is told before");
  await page.click('form.act[action$="/abort"] button');
  await pill("aborted");
  const skipped = made.asking("--max-retries", "0");
  await visit(skipped);
  await page.click("text=Skip …");
  await page.click('form.act[action$="/skip"] button');
  await pill("skipped");
  check(told(skipped).status === "skipped", "as the command line has it");

  // Changes from elsewhere appear without a reload, but do not replace text that is being written.
  const two = made.asking("--max-retries", "0");
  await visit(two);
  await page.click("text=Intervene …");
  await page.fill('[name="note"]', "half a");
  run(dir, "git-runr", "answer", two, "commit");
  await page.waitForFunction(() => document.getElementById("news").textContent.includes("changed"));
  check((await page.inputValue('[name="note"]')) === "half a", "what is being written stays");
  await clean(page, "runs");
  await page.goto("about:blank");
  await end(server);
  await context.close();
}
