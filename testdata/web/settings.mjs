// The settings of the page: what they change is seen, at once or after the page came again.
import { check, end, lines, repository, run, serve } from "./tools.mjs";

export async function settings(browser, open, clean) {
  const code = (a, b) => lines(60, (n) => (n === 30 ? a : n === 50 ? b : `line ${n}`));
  const dir = repository("settings", { "a.txt": code("thirty", "fifty"), "b.txt": "one\ntwo\n" }, { "a.txt": code("\tthirty", "FIFTY"), "b.txt": "one\n  two\n" });
  const id = JSON.parse(run(dir, "git-runr", "review", "--reviewer", "human", "--json")).review_id;
  run(dir, "git-runr", "inbox", "comment", id, "a.txt:30", "-m", "indented");
  run(dir, "git-runr", "inbox", "comment", id, "b.txt:2", "-m", "this one too");
  const server = await serve(dir);
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await open(context, server.url);
  const file = (name) => page.locator(`.file[data-path="${name}"]`);
  await page.goto(new URL(`/review/${id}`, server.url).href);

  // white space: by key, by menu, and back by its mark
  check((await file("b.txt").locator("tr.a").count()) === 1, "white space is shown");
  await Promise.all([page.waitForNavigation(), page.keyboard.press("W")]);
  await page.waitForSelector(".head .moved");
  check((await file("b.txt").textContent()).includes("Only white space changed"), "W hides changes of white space alone");
  check((await file("a.txt").locator("tr.a").count()) === 1, "and leaves the others");
  check((await page.locator(".remark.draft:visible").count()) === 2, "comments on hidden lines are still there");
  await file("b.txt").locator('[data-do="load"]').click();
  await file("b.txt").locator("tr.notes .remark").waitFor();
  check((await file("b.txt").locator("tr.a").count()) === 1, "one file is shown with its white space");
  await file("a.txt").locator("tr.gap a").first().click();
  await file("a.txt").locator("tr.notes .remark").waitFor();
  check((await page.locator(".remark").count()) === 2, "a gap that is opened has the comment at its line, once");
  await page.reload();
  check((await file("b.txt").textContent()).includes("Only white space changed"), "the setting is remembered");
  await Promise.all([page.waitForNavigation(), page.click(".head .moved")]);
  check((await file("b.txt").locator("tr.a").count()) === 1, "and taken back where it is told");
  const choose = async (name, value) => {
    await page.evaluate(() => (document.querySelector(".settings").closest("details").open = true));
    await page.selectOption(`[data-setting="${name}"]`, value);
  };
  await Promise.all([page.waitForNavigation(), choose("space", "ignore")]);
  check((await page.locator(".head .moved").count()) === 1, "the menu does the same");
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Escape").then(() => page.keyboard.press("W"))]);

  // what needs no answer of the server holds at once, and after a reload
  const look = (selector, property) => page.locator(selector).first().evaluate((e, p) => getComputedStyle(e)[p], property);
  for (const view of ["unified", "split"]) {
    await page.goto(new URL(`/review/${id}?view=${view}`, server.url).href);
    for (const [name, values, selector, property] of [
      ["tint", ["", "strong", "blind"], view === "split" ? ".diff td.code.a" : ".diff tr.a > .code", "backgroundColor"],
      ["rows", ["dense", "", "wide"], ".diff td.code", "lineHeight"],
      ["wrap", ["", "off"], ".diff td.code", "whiteSpace"],
    ]) {
      const seen = [];
      for (const value of values) {
        await choose(name, value);
        await page.waitForTimeout(150);
        const now = await look(selector, property);
        await page.reload();
        check((await look(selector, property)) === now, `${view}: ${name} ${value} is remembered`);
        seen.push(now);
      }
      check(new Set(seen).size === values.length, `${view}: ${name} is seen: ${seen}`);
      await choose(name, "");
    }
    const row = page.locator(view === "split" ? ".diff tr:has(td.code.x)" : ".diff tr.x").first();
    const cell = row.locator("td.code").last();
    check((await cell.evaluate((e) => getComputedStyle(e).transitionDuration)) === "0.1s", `${view}: what is hovered changes within 100 ms`);
    await page.mouse.move(2, 2);
    const before = await cell.evaluate((e) => getComputedStyle(e).backgroundColor);
    await row.hover();
    await page.waitForTimeout(150);
    check((await cell.evaluate((e) => getComputedStyle(e).backgroundColor)) !== before, `${view}: the hovered row is seen`);
  }
  await clean(page, "settings");
  await end(server);
  await context.close();
}
