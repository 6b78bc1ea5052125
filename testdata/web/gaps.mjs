// Nothing is hidden: lines between changes, long lines, thousands of files.
import { check, end, lines, repository, run, serve } from "./tools.mjs";
import { seen } from "./layout.mjs";

export async function gaps(browser, open, clean) {
  const text = (change) => lines(100, (n) => (change.includes(n) ? `changed ${n}` : `line ${n}`));
  const long = (word) => `${"0123456789 ".repeat(180)}${word}${" 9876543210".repeat(180)}\n`;
  const dir = repository("gaps", { "a.txt": text([]), "long.txt": long("safe"), "wide.txt": long("safe").replaceAll(" ", "") }, { "a.txt": text([10, 50, 90]), "long.txt": long("evil"), "wide.txt": long("evil").replaceAll(" ", "") });
  const id = JSON.parse(run(dir, "git-runr", "review", "--reviewer", "human", "--json")).review_id;
  run(dir, "git-runr", "inbox", "comment", id, "a.txt:30", "-m", "in between");
  const server = await serve(dir);
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await open(context, server.url);
  for (const view of ["unified", "split"]) {
    await page.goto(new URL(`/review/${id}?view=${view}`, server.url).href);
    const file = page.locator('[data-path="a.txt"]');
    const counts = () => file.locator("tr.gap .left").allTextContents();
    const numbers = () => file.locator(".diff").evaluate((table) => [...table.rows].filter((r) => !r.matches(".hunk, .notes")).map((r) => r.querySelector("td.ln:nth-child(4)")?.textContent || r.cells[1].textContent).filter(Boolean).map(Number));
    const settled = async (what) => { for (let i = 0; i < 40 && (await counts()).join() !== what; i++) await page.waitForTimeout(25); check((await counts()).join() === what, `${view}: gaps of ${what}: ${await counts()}`); };
    await settled("6 lines,33 lines,33 lines,7 lines");
    await file.locator("tr.gap a").first().click();
    await settled("33 lines,33 lines,7 lines");
    await file.locator('tr.gap [data-way="down"]').first().click();
    await settled("13 lines,33 lines,7 lines");
    await file.locator('tr.gap [data-way="up"]').first().click();
    await settled("13 lines,13 lines,7 lines");
    await page.keyboard.press("E");
    await settled("");
    const all = await numbers();
    check(all.every((n, i) => n === i + 1) && all.length === 100, `${view}: every line once and in order: ${all}`);
    check((await file.locator(".remark").count()) === 1 && (await file.locator("tr.notes .remark").count()) === 1, `${view}: a comment between changes comes to its line`);
    for (const name of ["long.txt", "wide.txt"]) {
      const mark = page.locator(`[data-path="${name}"] .a mark`);
      await mark.scrollIntoViewIfNeeded();
      const box = await mark.boundingBox();
      check((await mark.textContent()).includes("evil") && box.x >= 0 && box.x + box.width <= 1440, `${view}: a change in a line of 4,000 characters is seen in full`);
    }
  }
  await clean(page, "gaps");
  await page.goto("about:blank");
  await end(server);

  const [first, second] = [{}, {}];
  for (let i = 0; i < 2000; i++) {
    first[`d${i % 50}/f${i}.txt`] = "one\ntwo\n";
    second[`d${i % 50}/f${i}.txt`] = "one\n2\n";
  }
  const many = repository("many", first, second);
  const big = JSON.parse(run(many, "git-runr", "review", "--reviewer", "human", "--json")).review_id;
  const other = await serve(many);
  await page.goto(other.url);
  await page.goto(new URL(`/review/${big}`, other.url).href);
  check((await seen(page)).top <= 150, "the first line stands as high with 2,000 files");
  check((await page.locator(".diff").count()) < 60, "files that are out of sight are not drawn");
  await page.locator(".file").nth(1500).scrollIntoViewIfNeeded();
  await page.locator(".file").nth(1500).locator(".diff").waitFor();
  check((await page.locator(".diff").count()) < 120, "and those passed over are not loaded");
  await clean(page, "many files");
  await end(other);
  await context.close();
}
