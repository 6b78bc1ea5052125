// The settings of the page take effect, at once or after a reload.
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

  // the menu is above the page at every scroll position
  for (const [width, height] of [[1440, 900], [390, 844]]) {
    await page.setViewportSize({ width, height });
    await page.click(".settings >> xpath=../summary");
    const hidden = await page.locator(".settings :is(select, button)").evaluateAll((all) => all.filter((e) => {
      const box = e.getBoundingClientRect();
      return ![box.left + 2, box.right - 2].every((x) => document.elementFromPoint(x, box.top + box.height / 2) === e);
    }).map((e) => e.outerHTML.slice(0, 40)));
    check(hidden.length === 0, `at ${width} every setting is in sight: ${hidden}`);
    await page.keyboard.press("Escape");
  }
  await page.setViewportSize({ width: 1440, height: 900 });

  // white space: by key, by menu, and back by its mark
  check((await file("b.txt").locator("tr.a").count()) === 1, "white space is shown");
  await Promise.all([page.waitForNavigation(), page.keyboard.press("W")]);
  await page.waitForSelector(".head .moved");
  check((await file("b.txt").textContent()).includes("Only white space changed"), "W hides changes of white space alone");
  check((await file("a.txt").locator("tr.a").count()) === 1, "and leaves the others");
  check((await page.locator(".remark.draft:visible").count()) === 2, "comments on hidden lines are still there");
  await file("b.txt").locator('.load [data-do="load"]').click();
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

  // settings that need no request take effect at once, and stay after a reload
  const still = () => page.waitForFunction(() => !document.getAnimations().length);
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
        await still();
        const now = await look(selector, property);
        await page.reload();
        await still();
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
    await still();
    const before = await cell.evaluate((e) => getComputedStyle(e).backgroundColor);
    await row.hover();
    await still();
    check((await cell.evaluate((e) => getComputedStyle(e).backgroundColor)) !== before, `${view}: the hovered row is seen`);
  }
  await clean(page, "settings");
  await page.goto("about:blank");
  await end(server);
  await pictures(page, clean);
  await documents(page, clean);
  await wrote(page, clean);
  await context.close();
}

// documents tests rendered Markdown and drawings.
async function documents(page, clean) {
  const doc = (words, more) => `# Title\n\nIt has ${words}.\n\n${"The same.\n\n".repeat(9)}- one\n${more}`;
  const svg = (fill) => `<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20" onload="alert(1)"><script>alert(2)</script><image href="/api/health"/><rect width="30" height="20" fill="${fill}"/></svg>\n`;
  const dir = repository("documents", { "a.md": doc("few words", ""), "b.svg": svg("red") }, { "a.md": doc("many words", "- two\n\n<script>alert(3)</script> ![x](https://example.test/x.png)\n"), "b.svg": svg("green") });
  const id = JSON.parse(run(dir, "git-runr", "review", "--reviewer", "human", "--json")).review_id;
  run(dir, "git-runr", "inbox", "comment", id, "a.md:3", "-m", "how many?");
  const server = await serve(dir);
  await page.goto(server.url);
  for (const view of ["unified", "split"]) {
    await page.goto(new URL(`/review/${id}?view=${view}`, server.url).href);
    const [text, drawing] = ["a.md", "b.svg"].map((name) => page.locator(`.file[data-path="${name}"]`));
    await page.keyboard.press("j");
    await page.keyboard.press("m");
    await text.locator(".blocks").waitFor();
    check((await text.locator(".br .d mark").textContent()) === "few" && (await text.locator(".br .a mark").first().textContent()) === "many", `${view}: a document as it reads, with the words that changed`);
    check((await text.locator("summary").first().textContent()) === "5 unchanged blocks" && !(await text.locator("details .md").first().isVisible()), `${view}: and what is far from them folded`);
    check(await text.locator(".remark").isVisible(), `${view}: its comments stay`);
    check(await page.evaluate(() => document.activeElement.matches(".fh")), `${view}: the focus is at its heading`);
    const tops = await text.locator(".br:has(.d) > .md").evaluateAll((all) => all.map((e) => e.getBoundingClientRect().top));
    check((tops[0] === tops[1]) === (view === "split"), `${view}: before and after stand as the view has them: ${tops}`);
    await page.keyboard.press("m");
    await text.locator(".diff").waitFor();
    check((await text.locator(".blocks").count()) === 0, `${view}: and as text again`);
    await drawing.locator(".look").click();
    const img = drawing.locator(".after img");
    await img.waitFor();
    await page.waitForFunction((i) => i.complete, await img.elementHandle());
    check((await img.evaluate((i) => i.naturalWidth)) === 30, `${view}: a drawing is drawn`);
  }
  const alone = await page.evaluate(async (at) => (await fetch(at)).status, `/review/${id}/raw?path=b.svg&side=new`);
  check(alone === 400, `a drawing is given to no other than an image: ${alone}`);
  page.trouble.splice(0, 1); // the browser tells of that
  await clean(page, "documents");
  await page.goto("about:blank");
  await end(server);
}

// wrote tests blame.
async function wrote(page, clean) {
  const dir = repository("wrote", { "a.txt": lines(60, (n) => `line ${n}`) }, { "a.txt": lines(60, (n) => (n === 20 || n === 50 ? `changed ${n}` : `line ${n}`)) });
  const [last, first] = run(dir, "git", "log", "--format=%h").trim().split("\n");
  const id = JSON.parse(run(dir, "git-runr", "review", "--reviewer", "human", "--json")).review_id;
  const server = await serve(dir);
  await page.goto(server.url);
  for (const view of ["unified", "split"]) {
    await page.goto(new URL(`/review/${id}?view=${view}`, server.url).href);
    const file = page.locator('.file[data-path="a.txt"]');
    await page.keyboard.press("j");
    await page.keyboard.press("b");
    await file.locator("td.bl").first().waitFor();
    const said = () => file.locator(".diff").evaluate((table) => [...table.rows].map((row) => row.querySelector(".bl code")?.textContent).filter(Boolean).join());
    check((await said()) === [first, last, first, first, last, first].join(), `${view}: the commit of each line is told once in a row: ${await said()}`);
    await file.locator("tr.gap a").first().click();
    await page.waitForFunction(() => document.querySelectorAll(".diff tr.gap").length === 2);
    check((await file.locator("tr:not(.gap, .notes, .hunk)").evaluateAll((rows) => new Set(rows.map((row) => row.cells.length)).size)) === 1, `${view}: lines of a gap have theirs`);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("c");
    await page.locator(".editor textarea").fill("why?");
    await page.keyboard.press("Control+Enter");
    await file.locator("tr.notes .remark").waitFor();
    check((await file.locator("tr.notes td").evaluate((cell) => cell.colSpan)) === (view === "split" ? 7 : 5), `${view}: a comment is written as elsewhere`);
    await file.locator('.remark [data-do="delete"]').click();
    await page.locator(".load button").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("b");
    await page.waitForFunction(() => !document.querySelector("td.bl"));
  }
  await clean(page, "wrote");
  await page.goto("about:blank");
  await end(server);
}

// pictures tests images in each format that the browser can encode.
async function pictures(page, clean) {
  const draw = async (type, width, height) => {
    const url = await page.evaluate(([t, w, h]) => {
      const canvas = Object.assign(document.createElement("canvas"), { width: w, height: h });
      const on = canvas.getContext("2d");
      on.fillStyle = w > h ? "#c33" : "#393";
      on.fillRect(0, 0, w, h);
      return canvas.toDataURL(t);
    }, [type, width, height]);
    return Buffer.from(url.split(",")[1], "base64");
  };
  const [first, second] = [{}, {}];
  for (const type of ["png", "jpeg", "webp"]) {
    first[`a.${type}`] = await draw(`image/${type}`, 300, 200);
    second[`a.${type}`] = await draw(`image/${type}`, 200, 300);
  }
  second["new.png"] = await draw("image/png", 40, 30);
  first["gone.gif"] = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
  second["gone.gif"] = null;
  const dir = repository("pictures", first, second);
  const id = JSON.parse(run(dir, "git-runr", "review", "--reviewer", "human", "--json")).review_id;
  const server = await serve(dir);
  await page.goto(server.url);
  await page.goto(new URL(`/review/${id}`, server.url).href);
  for (const figure of await page.locator(".pair figure").all()) {
    await figure.scrollIntoViewIfNeeded();
    await page.waitForFunction((f) => f.querySelector("img").complete, await figure.elementHandle());
    const natural = await figure.locator("img").evaluate((i) => `${i.naturalWidth} × ${i.naturalHeight}`);
    const caption = await figure.locator("figcaption").textContent();
    check(caption.includes(natural) && natural !== "0 × 0", `an image is as large as is said: ${natural}, ${caption}`);
  }
  check((await page.locator(".pair figure").count()) === 8, "every version of every image is shown");
  const pair = page.locator('.file[data-path="a.png"] .pair');
  const boxes = () => pair.locator("img").evaluateAll((all) => all.map((i) => i.getBoundingClientRect().toJSON()));
  const [left, right] = await boxes();
  check(left.right < right.left, "they stand side by side");
  await page.locator('.file[data-path="a.png"] [data-value="swipe"]').click();
  const [old, fresh] = await boxes();
  check(old.left === fresh.left && old.top === fresh.top, `and lie over each other: ${old.top} ${fresh.top}`);
  const clip = () => pair.locator(".after").evaluate((e) => getComputedStyle(e).clipPath);
  await pair.locator("input").focus();
  const before = await clip();
  for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowRight");
  check((await clip()) !== before && (await clip()).includes("55%"), `a key moves what is seen of both: ${await clip()}`);
  await page.reload();
  check((await page.locator('[data-value="swipe"][aria-pressed="true"]').count()) === 3, "it is remembered");
  await page.locator('.file[data-path="a.png"] [data-value="full"]').click();
  const [one, two] = await boxes();
  check(one.width === 300 && two.width === 200 && two.top > one.bottom, "or below each other in full size");
  await page.locator('.file[data-path="a.png"] [data-value=""]').click();
  await clean(page, "pictures");
  await page.goto("about:blank");
  await end(server);
}
