// The list of files has each directory once, and is always up to date.
import { check, end, repository, run, serve } from "./tools.mjs";

export async function tree(browser, open, clean) {
  const names = ["lib/a.js", "lib/deep/er/b.js", "lib/z.js", "src/c.js", "top.js"];
  const dir = repository("tree", Object.fromEntries(names.map((n) => [n, "one\n"])), Object.fromEntries([...names.map((n) => [n, "2\n"]), ["new.js", "new\n"]]));
  const id = JSON.parse(run(dir, "git-runr", "review", "--reviewer", "human", "--json")).review_id;
  const server = await serve(dir);
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await open(context, server.url);
  await page.goto(new URL(`/review/${id}`, server.url).href);
  const dirs = await page.locator(".tree li > details > summary").allTextContents();
  check(dirs.join() === "lib/,deep/er/,src/", `each directory once: ${dirs}`);
  await page.locator(".tree summary", { hasText: "lib/" }).click();
  check(!(await page.locator('.tree a[title="lib/a.js"]').isVisible()), "a directory folds");
  await page.keyboard.press("ArrowDown");
  check(await page.locator('.tree a[title="lib/a.js"]').isVisible(), "and opens where the reader is");
  await page.locator(".tree li.f", { hasText: "c.js" }).locator("input").click();
  await page.waitForFunction(() => document.getElementById("viewed").textContent === "1");
  check(!(await page.locator('[data-path="src/c.js"] .diff').isVisible()), "a box that is ticked folds its file");
  await page.selectOption("#filter-state", "unviewed");
  check((await page.locator(".tree li.f:visible").count()) === 5 && !(await page.locator('[data-path="src/c.js"]').isVisible()), "what is not viewed can be had alone");
  check(!(await page.locator(".tree summary", { hasText: "src/" }).isVisible()), "and no directory stands empty");
  await page.selectOption("#filter-state", "A");
  check((await page.locator(".file:visible").count()) === 1, "or what is new");
  await page.selectOption("#filter-state", "");
  await page.locator('[data-path="top.js"] tr.a td.ln:nth-child(2)').click();
  await page.keyboard.type("hm");
  await page.keyboard.press("Control+Enter");
  await page.waitForSelector(".remark.draft");
  check((await page.textContent('.tree a[title="top.js"] .n')) === "1", "a comment is counted at once");
  await page.selectOption("#filter-state", "commented");
  check((await page.locator(".file:visible").count()) === 1, "what has comments can be had alone");
  await page.click('.remark [data-do="delete"]');
  await page.waitForFunction(() => document.querySelector('.tree a[title="top.js"] .n').hidden);
  check((await page.locator(".tree [aria-current]").count()) === 1, "one line is the current one");
  await clean(page, "tree");
  await page.goto("about:blank");
  await end(server);
  await context.close();
}
