// The layout of a review's page: the change is visible at once, however long the messages before it are.
import { check, end, lines, repository, run, serve } from "./tools.mjs";

// firstLine returns the position of the first line of code, and how many lines are visible.
export const seen = (page) => page.evaluate(() => {
  const rows = [...document.querySelectorAll(".diff tr:not(.hunk, .notes)")];
  const shown = rows.filter((row) => {
    const box = row.getBoundingClientRect();
    return row.contains(document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2)) && box.bottom <= innerHeight;
  });
  return { top: Math.round(rows[0].getBoundingClientRect().top + scrollY), rows: shown.length };
});

export async function layout(browser, open, clean) {
  const first = {}, second = {};
  for (let i = 0; i < 21; i++) {
    first[`dir${i % 4}/file${i}.go`] = lines(60, (n) => `line ${n}`);
    second[`dir${i % 4}/file${i}.go`] = lines(60, (n) => (n > 20 && n < 50 ? `changed ${n}` : `line ${n}`));
  }
  const dir = repository("layout", first, second);
  run(dir, "git", "commit", "-q", "--amend", "-m", `A title\n\n${"A long body of many words.\n".repeat(30)}`);
  const id = JSON.parse(run(dir, "git-runr", "review", "--reviewer", "human", "-m", "A request.\n\n".repeat(20), "--json")).review_id;
  const server = await serve(dir);
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await open(context, server.url);
  await page.goto(new URL(`/review/${id}`, server.url).href);
  const before = await seen(page);
  check(before.top <= 150, `the first line of the diff is at 150 or above: ${before.top}`);
  check(before.rows >= 31, `31 lines are to be seen: ${before.rows}`);
  const tops = await page.evaluate(() => [".head .pill", ".head h1", ".head .actions button"].map((s) => { const b = document.querySelector(s).getBoundingClientRect(); return b.top + b.height / 2; }));
  check(Math.max(...tops) - Math.min(...tops) < 4, `state, title and what can be done are in one row: ${tops}`);
  await page.evaluate(() => scrollTo(0, 5000));
  check((await page.locator(".head .seen-of").boundingBox()).y < 80, "how far one is stays in sight");
  await page.evaluate(() => scrollTo(0, 0));
  await page.click(".message summary");
  check(await page.locator(".message .md").first().isVisible(), "the request is a click away");
  await page.keyboard.press("Escape");
  run(dir, "git-runr", "inbox", "submit", id, "--request-changes", "-m", "No.\n\n".repeat(30));
  await page.reload();
  const after = await seen(page);
  check(after.top <= 150, `after an answer too: ${after.top}`);
  check((await page.textContent(".about")).includes("Handed over"), "what was submitted is handed over");
  check(!(await page.locator("#pending").isVisible()), "and nothing is said to be pending");
  await page.setViewportSize({ width: 390, height: 844 });
  for (const path of ["/review", `/review/${id}`, "/runs", "/metrics", "/nowhere"]) {
    await page.goto(new URL(path, server.url).href);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check(wide <= 0, `${path} fits a phone: ${wide}`);
  }
  page.trouble.length = 0; // the page that is not there
  await clean(page, "layout");
  await end(server);
  await context.close();
}
