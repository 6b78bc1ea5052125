// The page by keys and by mouse: one cursor, wherever the focus is.
import { check, end, lines, repository, run, serve } from "./tools.mjs";

export const at = (page) => page.evaluate(() => {
  const stop = document.querySelector(".cursor");
  const file = stop?.closest(".file")?.dataset.path;
  return stop && `${file}${stop.tagName === "TR" ? `:${stop.dataset.at}:${stop.getAttribute("aria-label").match(/\d+/)[0]}` : ""}`;
});

export async function keys(browser, open, clean) {
  const text = (change) => lines(40, (n) => (change.includes(n) ? `changed ${n}` : `line ${n}`));
  const dir = repository("keys", { "a.txt": text([]), "b.txt": text([]), "c.txt": text([]) }, { "a.txt": text([5, 20]), "b.txt": text([5]), "c.txt": text([30]) });
  const ids = [[], ["-m", "Once more."]].map((more) => JSON.parse(run(dir, "git-runr", "review", "--reviewer", "human", ...more, "--json")).review_id);
  const server = await serve(dir);
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await open(context, server.url);
  const press = async (...all) => { for (const key of all) await page.keyboard.press(key); await page.waitForTimeout(60); };
  const is = async (wanted, what) => { let now = await at(page); for (let i = 0; i < 60 && now !== wanted; i++, now = await at(page)) await page.waitForTimeout(50); check(now === wanted, `${what}: ${now}, wanted ${wanted}`); };
  const viewed = (n) => page.waitForFunction((is) => document.getElementById("viewed").textContent === is, String(n)).catch(() => {}); // the server notes it

  await press("j");
  check((await page.evaluate(() => document.activeElement.getAttribute("href"))).startsWith("/review/"), "j goes to the first line of the inbox");
  await press("j", "k", "ArrowDown", "Enter");
  await page.waitForSelector(".diff");
  await page.goto(new URL(`/review/${ids[0]}`, server.url).href);
  check((await page.locator(".tree a[aria-current]").count()) === 1, "one file is the current one");

  await press("Tab");
  for (let i = 0; i < 12 && !(await page.evaluate(() => document.activeElement.dataset.do === "first-line")); i++) await press("Tab");
  await press("Enter");
  await is("a.txt:new:2", "few Tabs and Enter lead to the first line");
  await page.reload();
  await page.waitForSelector(".diff");
  await press("c");
  await is("a.txt:new:2", "without a cursor, c sets it");
  check((await page.locator(".editor").count()) === 0 && (await page.textContent("#news")).includes("No line was selected"), "and says so, in place of a comment on a file that nobody chose");
  await page.locator('[data-path="b.txt"] .diff tr.a td.code').first().click();
  await is("b.txt:new:5", "a click on a line of code sets the cursor there");
  await press("c");
  check((await page.textContent('[data-path="b.txt"] .editor .where')).includes("line 5"), "where c writes");
  await press("Escape");
  await page.reload();
  await page.waitForSelector(".diff");

  await press("ArrowDown");
  await is("a.txt:new:2", "the first arrow is at the first line in sight");
  await press("ArrowDown", "ArrowDown", "ArrowDown");
  await is("a.txt:old:5", "n arrows reach the nth line");
  await press("ArrowDown", "ArrowLeft");
  await is("a.txt:new:5", "a line that one side has is of that side");
  await press("c");
  check((await page.textContent(".editor .where")).includes("line 5"), "c writes on the line of the cursor");
  await page.keyboard.type("by keys");
  await press("Control+Enter");
  await page.waitForSelector(".remark.draft");
  check((await page.locator("tr.noted").count()) === 1, "the line of a comment stays tinted");
  check((await page.textContent(".tree li:first-of-type .n")) === "1", "and is counted beside its file");
  await press("ArrowDown");
  await is("a.txt:old:6", "arrows go on behind the comment, on the side that was chosen");
  await press("ArrowRight", "Shift+ArrowDown", "Shift+ArrowDown", "c");
  check((await page.textContent(".editor .where")).includes("lines 6–8"), "shift makes a range");
  await press("Escape");
  await is("a.txt:new:8", "Escape gives the cursor back");
  for (let i = 0; i < 8; i++) await press("ArrowDown");
  await press("]");
  await is("b.txt:old:5", "] goes to the next change, across files");
  await press("[");
  await is("a.txt:old:20", "[ goes back");
  await press("j");
  await is("b.txt", "j goes to the next file");
  await page.evaluate(() => scrollTo(0, 0));
  await press("j");
  await is("c.txt", "from where the cursor is, not the window");
  await press("k", "ArrowUp");
  await is("a.txt:new:23", "up from a heading is the last line of the file before");
  await press("j", "x");
  check(!(await page.locator('[data-path="b.txt"] .diff').isVisible()), "x folds the file");
  await press("ArrowDown");
  await is("c.txt", "what is folded is passed over");
  await press("k", "x", "V");
  await is("c.txt", "V goes to the next file");
  await viewed(1);
  check((await page.textContent("#viewed")) === "1" && !(await page.locator('[data-path="b.txt"] .diff').isVisible()), "and the one before is viewed and folded to its heading");
  await press("k", "v");
  await viewed(0);
  check((await page.textContent("#viewed")) === "0", "v takes that back");

  // Wherever the focus is, the arrows move the cursor.
  for (const where of [".seen", ".tree a", ".head .actions button", ".brand", ".views a", ".fold"]) {
    await page.locator(where).first().focus();
    const before = await at(page);
    await press("ArrowDown");
    check((await at(page)) !== before, `an arrow with the focus on ${where}`);
  }
  await press("/");
  await page.keyboard.type("c.t");
  check(await page.evaluate(() => document.activeElement.id === "filter"), "/ is the filter");
  await press("Control+a", "Delete", "Escape", "s");
  await page.waitForSelector(".diff.split");
  await page.waitForTimeout(200);
  check((await at(page)) !== null, "s keeps the cursor");
  check(await page.evaluate(() => document.activeElement.classList.contains("cursor")), "and the focus");
  await press("k", "k", "k", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown");
  await is("a.txt:new:5", "side by side, the new side");
  await press("ArrowLeft");
  await is("a.txt:old:5", "and the old one");

  const numbers = page.locator('[data-path="c.txt"] .diff td.ln:nth-child(4)');
  await numbers.nth(6).scrollIntoViewIfNeeded();
  const [one, two] = [await numbers.nth(1).boundingBox(), await numbers.nth(3).boundingBox()];
  await page.mouse.move(one.x + 5, one.y + 5);
  await page.mouse.down();
  await page.mouse.move(two.x + 5, two.y + 5, { steps: 4 });
  await page.mouse.up();
  check((await page.textContent(".editor .where")).includes("lines 28–30"), "dragging over numbers makes a range");
  await press("Escape");
  const code = page.locator('[data-path="c.txt"] .diff td.code').nth(3);
  await code.hover();
  const plus = await numbers.nth(1).boundingBox();
  await page.mouse.click(plus.x + plus.width + 6, plus.y + 10);
  check((await page.textContent(".editor .where")).includes("line 28"), "the + of the row under the mouse writes on it");
  await press("Escape");
  await clean(page, "keys");
  // Two tabs of one review: a tab does not touch text that is being written in the other one, until that is closed.
  const address = new URL(`/review/${ids[1]}`, server.url).href;
  const first = await open(context, address);
  await first.route("**/api/review/drafts/**", (route) => route.abort());
  await first.locator('[data-path="a.txt"] .diff tr:not(.hunk, .notes) td.ln').first().click();
  await first.keyboard.type("being written");
  const second = await open(context, address);
  await second.waitForTimeout(500);
  check((await second.locator(".editor").count()) === 0, "a second tab leaves alone what is being written in the first");
  await first.close();
  await second.reload();
  await second.waitForSelector(".editor, .remark.draft");
  const taken = await second.evaluate(() => [...document.querySelectorAll(".editor textarea, .remark.draft:not([hidden])")].map((e) => e.value ?? e.dataset.source));
  check(taken.join() === "being written", `and takes it over once that is gone, open or saved as a draft: ${taken}`);
  await end(server);
  await context.close();
}
