// Every key with the focus in every place: in a field it types, elsewhere it acts. And every page without scripts.
import { check, end, lines, repository, run, serve } from "./tools.mjs";
import { runsOf } from "./runs.mjs";

// state returns everything that a key can change, as one text.
const state = (page) => page.evaluate(() => JSON.stringify({
  url: location.href, focus: document.activeElement.outerHTML.slice(0, 60), cursor: document.querySelector(".cursor")?.textContent, side: document.querySelector("tr.cursor")?.dataset.at,
  classes: [...document.querySelectorAll(".file, .tree a")].map((e) => e.className).join(), viewed: document.querySelector("#viewed")?.textContent, split: document.querySelectorAll(".diff.split").length,
  editors: document.querySelectorAll(".editor").length, open: document.querySelectorAll("dialog[open], details[open]").length, body: document.querySelectorAll(".fb *").length,
  news: document.getElementById("news").textContent, ticked: document.querySelectorAll(":checked").length, space: document.documentElement.dataset.space ?? "",
}));

// places lists where the focus can be on the page of a review.
const places = { body: null, tree: ".tree a", row: "tr.cursor", button: ".head .actions button", link: ".brand", box: ".tree input[type=checkbox]", fold: ".fold" };
const fields = { filter: "#filter", message: "#message", "comment box": ".editor textarea" };

const focus = (page, where) => page.evaluate((s) => (s ? document.querySelector(s).focus() : document.activeElement.blur()), where);

// acts reports whether a key changes what the page shows.
async function acts(page, key) {
  const before = await state(page);
  await page.keyboard.press(key);
  for (let i = 0; i < 30; i++) {
    if ((await state(page).catch(() => "")) !== before) return true;
    await page.waitForTimeout(30);
  }
  return false;
}

export async function everyKey(browser, open, clean) {
  const text = (change) => lines(40, (n) => (change.includes(n) ? `changed ${n}` : `line ${n}`));
  const dir = repository("places", { "a.txt": text([]), "b.md": text([]), "c.txt": text([]) }, { "a.txt": text([5, 20]), "b.md": text([5]), "c.txt": text([30]) });
  const [id] = [[], ["-m", "Once more."]].map((more) => JSON.parse(run(dir, "git-runr", "review", "--reviewer", "human", ...more, "--json")).review_id);
  for (const at of ["a.txt:5", "b.md:8"]) run(dir, "git-runr", "inbox", "comment", id, at, "-m", "say why");
  const server = await serve(dir);
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, permissions: ["clipboard-read", "clipboard-write"] });
  const page = await open(context, server.url);
  const script = await page.evaluate(async () => (await fetch(document.querySelector("script[src]").src)).text());
  const table = (name) => [...script.split(`const ${name} = {`)[1].split("\n};")[0].matchAll(/^ {2}(?:async )?"?(\w+|[^\w\s"])"?(?:\(\)|:)/gm)].map((m) => m[1]);
  const keys = [...table("fileKeys"), ...table("everywhere")];
  check(["j", "]", "V", "ArrowLeft", "?", "/"].every((key) => keys.includes(key)) && keys.length >= 20, `the keys of the script are found: ${keys}`);
  // fresh loads the page and moves the cursor to line 6 of the second file.
  const fresh = async () => {
    await page.evaluate(() => {
      for (const name of ["space", "view"]) document.cookie = `runr-${name}=; path=/; max-age=0`;
      localStorage.clear();
      sessionStorage.clear();
    });
    await page.goto(new URL(`/review/${id}`, server.url).href);
    await page.waitForSelector(".tree input[type=checkbox]");
    for (const key of ["ArrowDown", "]", "]", "]", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
    await page.waitForFunction(() => /^line 6/.test(document.querySelector(".cursor")?.getAttribute("aria-label")));
  };

  // In a field each key types itself, or moves within it.
  await fresh();
  await page.keyboard.press("c");
  await page.waitForSelector(".editor textarea");
  await page.evaluate(() => (document.querySelector("#finish details").open = true));
  const typed = keys.filter((key) => key.length === 1);
  for (const [name, field] of Object.entries(fields)) {
    await focus(page, field);
    const before = JSON.parse(await state(page));
    for (const key of keys) await page.keyboard.press(key);
    const value = await page.inputValue(field);
    check([...value].sort().join("") === [...typed].sort().join(""), `all keys type in ${name}: ${value}, wanted ${typed.join("")}`);
    const after = JSON.parse(await state(page));
    for (const what of ["url", "focus", "side", "viewed", "split", "editors", "space", "open"]) check(before[what] === after[what], `and do nothing else (${name}, ${what}): ${before[what]}, ${after[what]}`);
    await page.fill(field, "");
  }
  await page.keyboard.press("Escape");

  // Elsewhere each acts, wherever the focus is. e is for a comment that the focus is on.
  for (const key of keys.filter((k) => k !== "e")) {
    for (const [name, where] of Object.entries(places)) {
      await fresh();
      if (key === "ArrowRight") await page.keyboard.press("ArrowLeft");
      await focus(page, where);
      check(await acts(page, key), `${key} acts with the focus on ${name}`);
      if (key.toLowerCase() === "v") await page.evaluate(() => document.querySelectorAll('.seen[aria-pressed="true"]').forEach((b) => b.click())).then(() => page.waitForTimeout(200));
    }
  }
  await page.goto(new URL("/review", server.url).href);
  for (const where of [null, ".tabs a", ".list input", ".list .title", ".brand"]) {
    await focus(page, where);
    check((await acts(page, "?")) && (await acts(page, "Escape")), `? acts in the inbox with the focus on ${where}`);
    await focus(page, where === ".list .title" ? ".brand" : where);
    check(await acts(page, "j"), `j acts in the inbox with the focus on ${where}`);
  }
  await focus(page, "#search");
  for (const key of typed) await page.keyboard.press(key);
  check((await page.inputValue("#search")) === typed.join(""), "all keys type in the search");
  page.trouble.length = 0; // a page that is left in the middle of something
  await page.goto("about:blank");
  await end(server);
  await context.close();
}

export async function noScript(browser, open) {
  const made = runsOf("noscript");
  const { dir } = made;
  const [asked, done] = [made.asking("--max-retries", "0"), made.done()];
  const ids = [[], ["-m", "Once more."]].map((more) => JSON.parse(run(dir, "git-runr", "review", "--reviewer", "human", ...more, "--json")).review_id);
  const server = await serve(dir);
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(30000);
  await page.goto(server.url);
  const visit = (path) => page.goto(new URL(path, server.url).href);
  // dead lists the buttons and links without an effect.
  const dead = async (path) => {
    await visit(path);
    for (const fold of await page.locator("summary:visible").all()) await fold.click({ timeout: 1000 }).catch(() => {});
    const none = await page.locator('button[type="button"]:visible, [data-do]:not(button, [href]):visible, [data-setting]:visible').evaluateAll((all) => all.map((e) => e.outerHTML.slice(0, 120)));
    check(none.length === 0, `${path} has nothing dead without a script: ${none}`);
  };
  for (const path of ["/review", "/review?status=all", `/review/${ids[0]}`, `/review/${ids[0]}?view=split`, `/review/${ids[0]}/comment?path=a.txt`, `/review/${ids[0]}/file?path=a.txt`, "/runs", `/run/${asked}`, `/run/${done}`, "/metrics", "/nowhere"]) await dead(path);

  // Search, comment, mark as viewed, submit.
  await visit("/review");
  await page.fill("#search", "is:open");
  await page.click(".search button");
  check((await page.locator(".list .title:visible").count()) === 2, "the inbox is searched");
  await visit(`/review/${ids[0]}`);
  check((await page.locator(".diff tr.a").first().isVisible()) && (await page.locator(".tree a").first().isVisible()), "the change is read");
  await page.locator('.file a[href*="/comment"]').first().click();
  await page.fill('[name="comment"]', "Without a script.");
  await page.click('button:has-text("Save")');
  await page.waitForLoadState();
  check((await page.locator(".remark.draft", { hasText: "Without a script." }).count()) === 1, "a comment is written");
  await page.locator(".seen:visible").first().click();
  check((await page.textContent("#viewed")) === "1", "a file is viewed");
  await page.click(".finish summary");
  await page.fill("#message", "No.");
  await page.check('[name="decision"][value="request_changes"]');
  await page.click(".finish .panel button.go");
  check(JSON.parse(run(dir, "git-runr", "inbox", "get", ids[0], "--json")).status === "submitted", "and handed in");
  // Compare, answer and land a run.
  await visit(`/run/${done}`);
  await page.click(".act > summary");
  await page.check('[name="squash"]');
  await page.click('form.act[action$="/land"] button');
  check((await page.textContent("#state")).includes("landed"), "a run lands");
  await visit(`/run/${asked}`);
  await page.selectOption('[name="to"]', "1");
  await page.click("#between button");
  check((await page.locator("#between .diff tr.a").count()) === 1, "attempts are compared");
  await page.click('form.act[action$="/commit"] button');
  check((await page.textContent(".pill")) === "completed", "and an answer is given");
  await end(server);
  await context.close();
}
