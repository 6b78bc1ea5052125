// The inbox: searching, selecting, and acting on the selected reviews, by keys and by mouse.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, end, repository, run, serve } from "./tools.mjs";

export async function inbox(browser, open, clean) {
  const dir = repository("inbox", { "a.txt": "one\n" }, { "a.txt": "2\n" });
  const ids = [1, 2, 3, 4].map((n) => {
    writeFileSync(join(dir, "a.txt"), `${n} of four\n`);
    run(dir, "git", "commit", "-qam", `Change ${n}`);
    return JSON.parse(run(dir, "git-runr", "review", "--reviewer", "human", "--json")).review_id;
  });
  run(dir, "git-runr", "inbox", "submit", ids[0], "--request-changes", "-m", "no");
  run(dir, "git-runr", "inbox", "submit", ids[1], "--approve", "-m", "yes");
  const server = await serve(dir);
  const context = await browser.newContext();
  const page = await open(context, server.url);
  const titles = () => page.locator(".list .title:visible").count();
  check((await page.title()).includes("inbox (main)"), "repository and branch are in the title");
  await page.keyboard.press("/");
  await page.keyboard.type("is:failed");
  await page.keyboard.press("Enter");
  await page.waitForURL(/is%3Afailed/);
  check((await titles()) === 1, "one has failed");
  await page.click("text=Clear");
  await page.selectOption('[name="verdict"]', "none");
  await page.click(".search button");
  await page.waitForURL(/verdict=none/);
  check((await titles()) === 2, "two have no verdict");
  check(!(await page.locator(".bulk").isVisible()), "what is done with those ticked is not there before");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  check((await page.locator(".list input:checked").count()) === 2, "x ticks");
  await page.click('.bulk [value="cancel"]');
  await page.waitForURL(/\/review$/);
  check(ids.slice(2).every((id) => JSON.parse(run(dir, "git-runr", "inbox", "get", id, "--json")).status === "cancelled"), "both are withdrawn");
  await clean(page, "inbox");
  await page.goto("about:blank");
  await end(server);
  await context.close();
}
