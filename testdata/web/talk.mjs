// A conversation on the page: replies in threads, updates without a reload, and a whole review by keyboard.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, end, lines, repository, run, serve } from "./tools.mjs";

export async function talk(browser, open, clean) {
  const dir = repository("talk", { "a.txt": lines(30, (n) => `line ${n}`), "b.txt": "one\n" }, { "a.txt": lines(30, (n) => (n % 9 ? `line ${n}` : `changed ${n}`)), "b.txt": "two\n" });
  run(dir, "git", "config", "runr.serve", "false");
  const id = JSON.parse(run(dir, "git-runr", "review", "--reviewer", "human", "--json")).review_id;
  const server = await serve(dir);
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await open(context, server.url);
  const url = new URL(`/review/${id}`, server.url).href;
  await page.goto(url);

  // By keyboard: three comments, a message, a verdict.
  const press = async (...all) => { for (const key of all) await page.keyboard.press(key); };
  await page.waitForSelector(".diff");
  for (let i = 0; i < 12 && !(await page.evaluate(() => document.activeElement.dataset.do === "first-line")); i++) await press("Tab");
  await press("Enter");
  await page.waitForSelector("tr.cursor");
  for (const text of ["first", "second", "third"]) {
    await press("]", "c");
    await page.waitForSelector(".editor textarea:focus");
    await page.keyboard.type(`${text} by keyboard`);
    await press("Control+Enter");
    await page.locator(".remark.draft", { hasText: `${text} by keyboard` }).waitFor();
    await page.waitForFunction(() => !document.querySelector(".editor"));
  }
  const on = await page.locator(".remark.draft").evaluateAll((all) => all.map((r) => `${r.dataset.file}:${r.dataset.start}`));
  check(new Set(on).size === 3 && on.length === 3, `three comments on three lines by keyboard: ${on}`);
  await press("r");
  await page.waitForSelector("#message:focus");
  await page.keyboard.type("Not yet.");
  await press("Tab");
  for (let i = 0; i < 6 && !(await page.evaluate(() => document.activeElement.name === "decision")); i++) await press("Tab");
  for (let i = 0; i < 3 && !(await page.evaluate(() => document.activeElement.value === "request_changes")); i++) await press("ArrowDown");
  await press("Control+Enter");
  await page.waitForSelector(".sent");
  const [given] = JSON.parse(run(dir, "git-runr", "inbox", "list", "--status", "all", "--json")).reviews;
  check(given.comment_count === 3 && given.status === "submitted", `from load to a review with three comments: ${JSON.stringify(given)}`);
  const tree = await page.accessibility?.snapshot?.() ?? null;
  if (tree) check(JSON.stringify(tree).includes("Comment by"), "the comments have names for a screen reader");

  // A reply appears where it was written, also on the review as a whole.
  const remark = page.locator(".diff .remark", { hasText: "second by" });
  await page.evaluate(() => (window.same = true));
  await remark.locator(".respond summary", { hasText: "Reply" }).click();
  await remark.locator('[name="text"]').fill("I see, **but** why?");
  await remark.locator("button", { hasText: "Reply" }).click();
  await remark.locator(".said-back strong").waitFor();
  check((await remark.locator(".said-back").count()) === 1 && (await page.evaluate(() => window.same)), "a reply is shown in its thread");
  await page.click(".talk > summary");
  const whole = page.locator(".talk > .pop > .respond");
  await whole.locator("summary").click();
  await whole.locator('[name="text"]').fill("In all: fine.");
  await whole.locator("button").click();
  await page.locator(".talk > .pop > .said-back", { hasText: "In all: fine." }).waitFor();
  check((await page.textContent(".talk > summary")).includes("1 reply"), "and one to the review as a whole");
  await page.keyboard.press("Escape");

  // Comments of others appear without a reload, but do not replace text that is being written.
  const third = page.locator(".diff .remark", { hasText: "third by" });
  const ids = { second: await remark.getAttribute("data-id"), third: await third.getAttribute("data-id") };
  run(dir, "git-runr", "inbox", "answer", id, ids.third, "deferred", "-m", "next week");
  await third.locator(".answer", { hasText: "next week" }).waitFor();
  writeFileSync(join(dir, "..", "talk.json"), JSON.stringify([{ file: "b.txt", startLine: 1, comment: "Bob was here" }]));
  run(dir, "git-runr", "inbox", "submit", id, "--as", "Bob", "--file", join("..", "talk.json"), "--request-changes");
  await page.locator('[data-path="b.txt"] tr.notes .remark', { hasText: "Bob was here" }).waitFor();
  await page.locator(".came-back, .talk > summary", { hasText: /2 answers/ }).first().waitFor();
  await remark.locator(".respond summary", { hasText: "Reply" }).click();
  await remark.locator('[name="text"]').fill("half a");
  run(dir, "git-runr", "inbox", "answer", id, ids.second, "deferred", "-m", "later");
  await page.waitForFunction(() => document.getElementById("news").textContent.includes("changed"));
  check((await remark.locator('[name="text"]').inputValue()) === "half a" && (await page.evaluate(() => window.same)), "what is being written stays");
  await clean(page, "talk");
  await page.goto("about:blank");
  await context.close();

  // Without scripts the reply is a form.
  const plain = await browser.newContext({ javaScriptEnabled: false });
  const bare = await open(plain, server.url);
  await bare.goto(`${url}/comments?show=all`);
  const thread = bare.locator(".thread", { hasText: "Bob was here" });
  await thread.locator(".respond summary", { hasText: "Reply" }).click();
  await thread.locator('[name="text"]').fill("without a script");
  await thread.locator("button", { hasText: "Reply" }).click();
  await thread.locator(".said-back", { hasText: "without a script" }).waitFor();
  check((await thread.locator(".said-back b").textContent()) === "Ada", "a reply without a script");
  await plain.close();
  await end(server);
}
