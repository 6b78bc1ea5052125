// A review from its request to its resolution, in a real browser and two chats.
import { chromium } from "playwright-core";
import { chat, check, checks, end, repository, run, serve } from "./tools.mjs";
import { hostile } from "./hostile.mjs";
import { away } from "./away.mjs";
import { axe } from "./axe.mjs";
import { comments } from "./comments.mjs";
import { copy } from "./copy.mjs";
import { gaps } from "./gaps.mjs";
import { inbox } from "./inbox.mjs";
import { killed } from "./killed.mjs";
import { keys } from "./keys.mjs";
import { frame } from "./frame.mjs";
import { everyKey, noScript } from "./places.mjs";
import { runs } from "./runs.mjs";
import { tree } from "./tree.mjs";
import { talk } from "./talk.mjs";
import { tabs } from "./tabs.mjs";
import { settings } from "./settings.mjs";
import { layout } from "./layout.mjs";
import { screenshots } from "./screenshots.mjs";

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });

// page opens a page, and counts violations of the content policy and errors.
export async function open(context, url) {
  const page = await context.newPage();
  const trouble = [];
  page.on("pageerror", (err) => trouble.push(`error: ${err.message}`));
  page.on("console", (m) => m.type() === "error" && trouble.push(`console: ${m.text()}`));
  page.on("dialog", (d) => (trouble.push(`dialog: ${d.message()}`), d.dismiss().catch(() => {})));
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (e) => window.violations.push(`${e.violatedDirective} ${e.blockedURI}`));
  });
  page.setDefaultTimeout(30000);
  await page.goto(url);
  page.trouble = trouble;
  return page;
}

async function clean(page, what) {
  const violations = await page.evaluate(() => window.violations);
  check(violations.length === 0, `${what}: no violation of the content policy, but ${violations}`);
  check(page.trouble.length === 0, `${what}: no trouble in the browser, but ${page.trouble.join("; ")}`);
}

async function wholeWay() {
  const dir = repository("way", { "app.js": "const a = 1;\nconst b = 2;\n", "gone.txt": "x\n" }, { "app.js": "const a = 1;\nconst b = 3;\nconst c = 4;\n", "gone.txt": null });
  const started = Date.now();
  const asked = JSON.parse(run(dir, "git-runr", "review", "--reviewer", "human", "-m", "Please look at **b**", "--json"));
  const took = Date.now() - started;
  check(took < 1000, `a request returns in under a second: ${took} ms`);
  const id = asked.review_id;

  let server = await serve(dir);
  const context = await browser.newContext();
  let page = await open(context, server.url);
  const listed = await page.textContent("main");
  check(listed.includes("Change the things"), `the inbox lists the request: ${listed.slice(0, 600)}`);
  await page.goto(new URL(`/review/${id}`, server.url).href);
  check((await page.textContent(".message strong")) === "b", "the message is shown as Markdown");

  await page.locator('section[data-path="app.js"] tr.a td.ln:nth-child(2)').first().click();
  await page.fill(".editor textarea", "Why **3**?\n\n```suggestion\nconst b = 2;\n```");
  await page.click(".editor button.go");
  await page.waitForSelector(".remark.draft .md strong");
  await page.reload();
  check((await page.textContent(".remark.draft")).includes("Why 3?"), "a draft survives a reload");

  await end(server);
  server = await serve(dir);
  await page.goto(server.url);
  await page.goto(new URL(`/review/${id}`, server.url).href);
  check((await page.textContent(".remark.draft")).includes("Why 3?"), "a draft survives kill -9 of the server");
  page.trouble.length = 0; // the killed server's stream of events broke off

  await page.keyboard.press("r");
  await page.fill("#message", "Not yet");
  await page.check('input[name="decision"][value="request_changes"]');
  await page.keyboard.press("Control+Enter");
  await page.waitForSelector(".sent");
  await clean(page, "the whole way");
  await end(server);

  const one = await chat(dir, "one");
  const two = await chat(dir, "two");
  const list = await one.call("review_inbox", { action: "list" });
  check(list.text.includes(id) && list.text.includes("submitted"), "another process lists what was submitted");
  const got = await one.call("review_inbox", { action: "get", id });
  check(got.text.includes("## Review Comments") && got.text.includes("### app.js") && got.text.includes("**Line 2:**\n> const b = 3;"), "and fetches its comments");
  check(!(await one.call("review_inbox", { action: "claim", id })).failed, "one chat claims it");
  const refused = await two.call("review_inbox", { action: "claim", id });
  check(refused.failed && refused.text.includes("claimed by"), "the other one is told who has it");
  check((await two.call("review_inbox", { action: "resolve", id })).failed, "and cannot resolve it");

  server = await serve(dir);
  page = await open(context, server.url);
  check((await page.textContent("main")).includes("claimed"), "the page shows the claim");
  check(!(await one.call("review_inbox", { action: "resolve", id })).failed, "the holder resolves it");
  await page.goto(new URL(`/review/${id}`, server.url).href);
  check((await page.textContent(".pill")) === "resolved", "the page shows the resolution");
  check(JSON.parse(run(dir, "git-runr", "inbox", "get", id, "--json")).status === "resolved", "so does the command line");
  await clean(page, "afterwards");
  one.end();
  two.end();
  await end(server);
}

try {
  if (!process.env.ONLY) await wholeWay();
  const only = process.env.ONLY;
  for (const part of [layout, keys, copy, gaps, tree, away, killed, tabs, talk, axe, inbox, settings, frame, runs, everyKey, noScript, comments, hostile].filter((p) => !only || p.name === only)) await part(browser, open, clean);
  if (process.env.SHOTS) await screenshots(browser, open, process.env.SHOTS);
  console.log(`the page in a browser: ${checks()} checks hold`);
} finally {
  await browser.close();
}
