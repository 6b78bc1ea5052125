// A server that is killed at any moment loses no draft.
import { check, end, repository, run, serve } from "./tools.mjs";

export async function away(browser, open) {
  const dir = repository("away", { "a.txt": "one\ntwo\nthree\n" }, { "a.txt": "one\n2\n3\n" });
  run(dir, "git", "config", "runr.serve", "false");
  const id = JSON.parse(run(dir, "git-runr", "review", "--reviewer", "human", "--json")).review_id;
  let server = await serve(dir);
  const context = await browser.newContext();
  const page = await open(context, server.url);
  const url = new URL(`/review/${id}`, server.url).href;
  const begin = async (n, text) => {
    await page.locator("tr.a td.ln:nth-child(2)").nth(n).click();
    await page.keyboard.type(text);
  };
  // Killed while a comment is typed, before anything was sent.
  await page.goto(url);
  await begin(0, "written before");
  await end(server);
  await page.keyboard.type(" and after");
  await page.waitForFunction(() => document.getElementById("news").textContent.includes("git runr serve"));
  check(true, "a server that went away is noticed, and it is said what to type");
  server = await serve(dir);
  await page.waitForFunction(() => document.querySelector(".editor [role=status]")?.textContent.includes("Saved"));
  await page.waitForFunction(() => !Object.keys(localStorage).some((k) => k.startsWith("runr-draft")));
  await page.goto(url);
  check((await page.textContent(".remark.draft")).includes("written before and after"), "what was written is saved once it is back");
  // Killed, and the page closed with it. The page sends nothing before, and nothing when it is closed, because a
  // request at that moment can reach the next server.
  const drafts = "**/api/review/drafts/**";
  await page.route(drafts, (route) => route.abort());
  await page.evaluate(() => addEventListener("pagehide", (event) => event.stopImmediatePropagation(), true));
  await begin(1, "never sent");
  await end(server);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("r");
  await page.fill("#message", "my view of it");
  await page.goto("about:blank");
  await page.unroute(drafts);
  server = await serve(dir);
  await page.goto(url);
  await page.waitForSelector(".editor textarea");
  check((await page.inputValue(".editor textarea")) === "never sent", `a page that was closed opens again with what was written: ${await page.inputValue(".editor textarea")}`);
  check((await page.inputValue("#message")) === "my view of it", "and with the message");
  await page.waitForFunction(() => !Object.keys(localStorage).some((k) => k.startsWith("runr-")));
  await page.goto(url);
  check((await page.locator(".remark.draft").count()) === 2, "each once");
  // Killed while it answers: a recorded comment is not recorded twice.
  const recorded = new Promise((done) => page.route(drafts, (route) => route.fetch().then(() => route.abort()).catch(() => {}).finally(done)));
  await page.locator('[data-do="comment-file"]').click();
  await page.keyboard.type("recorded, not answered");
  await recorded;
  await page.unroute(drafts);
  await page.goto("about:blank");
  await page.goto(url);
  check((await page.locator(".remark.draft", { hasText: "recorded, not answered" }).count()) === 1 && !(await page.locator(".editor").count()), "nor is what was recorded without an answer");
  await page.goto("about:blank");
  await end(server);
  await context.close();
}
