// Two tabs of one review: a tab takes over the text of a closed tab, both show the same drafts, and neither overwrites
// text of the other.
import { check, end, lines, repository, run, serve } from "./tools.mjs";

export async function tabs(browser, open) {
  const dir = repository("tabs", { "a.txt": lines(20, (n) => `line ${n}`) }, { "a.txt": lines(20, (n) => `changed ${n}`) });
  run(dir, "git", "config", "runr.serve", "false");
  const id = JSON.parse(run(dir, "git-runr", "review", "--reviewer", "human", "--json")).review_id;
  const server = await serve(dir);
  const context = await browser.newContext();
  const one = await open(context, server.url);
  const url = new URL(`/review/${id}`, server.url).href;
  await one.goto(url);
  let two = await open(context, url);
  const begin = async (page, n, text) => {
    await page.locator("tr.a td.ln:nth-child(2)").nth(n).click();
    await page.waitForSelector(".editor textarea:focus");
    await page.keyboard.type(text);
  };
  const draft = (page, text) => page.locator(".remark.draft", { hasText: text });
  const cut = (page) => page.route("**/api/review/drafts/**", (route) => (route.request().method() === "GET" ? route.continue() : route.abort()));
  const message = async (page, text) => {
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("r");
    await page.fill("#message", text);
  };
  const settled = (page) => page.waitForFunction(() => !Object.keys(localStorage).some((k) => /^runr-(draft|message)/.test(k)));

  // A comment that is saved in one tab appears in the other, and disappears there when it is deleted.
  await begin(one, 0, "from the first tab");
  await one.keyboard.press("Control+Enter");
  await draft(two, "from the first tab").waitFor();
  check((await two.locator("tr.notes .remark.draft").count()) === 1 && (await two.textContent("#pending")).startsWith("1 "), "a draft of one tab is shown in the other, at its line");
  await draft(two, "from the first tab").locator("[data-do=edit]").click();
  await two.fill(".editor textarea", "changed in the second tab");
  await two.keyboard.press("Control+Enter");
  await draft(one, "changed in the second tab").waitFor();
  check((await one.locator(".remark.draft").count()) === 1, "a change of it too, once");
  await draft(one, "changed in").locator("[data-do=delete]").click();
  await draft(two, "changed in").waitFor({ state: "detached" });
  check((await two.textContent("#pending")).startsWith("0 "), "what one tab deletes goes from the other");

  // The message appears in the other tab. Texts of both tabs are merged.
  await message(one, "one begins");
  await two.waitForFunction(() => document.getElementById("message").value === "one begins");
  await cut(two);
  await message(two, "two wrote alone");
  await two.waitForFunction(() => document.getElementById("saved").textContent.includes("Not saved"));
  await one.fill("#message", "one goes on");
  await settledMessage(one);
  await two.unroute("**/api/review/drafts/**");
  await two.fill("#message", "two wrote alone!");
  await two.waitForFunction(() => document.getElementById("message").value.includes("one goes on"));
  const both = (text) => text.includes("one goes on") && text.includes("two wrote alone");
  check(both(await two.inputValue("#message")), `two messages are joined: ${await two.inputValue("#message")}`);
  await one.waitForFunction(() => document.getElementById("message").value.includes("two wrote alone"));
  check(both(await one.inputValue("#message")), "in both tabs");

  // A tab closes before its text was saved: the other tab takes over the text, and the focus stays.
  await cut(two);
  await begin(two, 4, "never sent");
  await message(two, "two ends here");
  await begin(one, 8, "being written here");
  await two.close();
  await one.waitForFunction(() => [...document.querySelectorAll(".editor textarea")].some((a) => a.value === "never sent"));
  await one.keyboard.type(", and on");
  await settled(one);
  check((await one.inputValue("#message")).includes("two ends here"), "the message of a tab that ended is taken over");
  await one.goto(url);
  check((await draft(one, "never sent").count()) === 1 && (await draft(one, "being written here, and on").count()) === 1, "and its comment, once, without a letter in the wrong place");

  // The text of a closed tab is merged with text that was written later.
  two = await open(context, url);
  await cut(two);
  await message(two, "left behind");
  await message(one, "written since");
  await settledMessage(one);
  await one.goto("about:blank");
  await two.goto("about:blank");
  await two.unroute("**/api/review/drafts/**");
  await one.goto(url);
  await settled(one);
  await one.goto(url);
  const last = await one.inputValue("#message");
  check(last.includes("left behind") && last.includes("written since"), `a message that a tab left is joined to the newer one: ${last}`);
  for (const page of [one, two]) await page.close();
  await end(server);
  await context.close();
}

const settledMessage = (page) => page.waitForFunction(() => document.getElementById("saved").textContent.includes("Saved"));
