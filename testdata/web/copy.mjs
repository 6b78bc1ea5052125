// The text that is copied for an agent is the output of git runr show, with pending comments.
import { check, end, repository, run, serve } from "./tools.mjs";

export async function copy(browser, open, clean) {
  const dir = repository("copy", { "a.txt": "one\ntwo\n" }, { "a.txt": "one\n2\n" });
  const id = JSON.parse(run(dir, "git-runr", "review", "--reviewer", "human", "--json")).review_id;
  run(dir, "git-runr", "inbox", "comment", id, "a.txt:2", "-m", "say **why**");
  run(dir, "git-runr", "inbox", "comment", id, "a.txt:1", "-m", "and this");
  const server = await serve(dir);
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
  const page = await open(context, server.url);
  await page.goto(new URL(`/review/${id}`, server.url).href);
  const copied = async () => { await page.waitForTimeout(300); return page.evaluate(() => navigator.clipboard.readText()); };
  await page.keyboard.press("y");
  let text = await copied();
  check(text.includes("say **why**") && text.includes("and this"), `pending comments are copied: ${text}`);
  await page.keyboard.press("n");
  await page.keyboard.press("y");
  text = await copied();
  check(text.includes("and this") && !text.includes("say **why**"), `one comment alone: ${text}`);
  await page.locator('.remark [data-do="copy-agent"]').nth(1).click();
  check((await copied()).includes("say **why**"), "and by its button");
  await page.keyboard.press("r");
  await page.fill("#message", "Not yet");
  await page.check('input[name="decision"][value="request_changes"]');
  await page.keyboard.press("Control+Enter");
  await page.waitForSelector(".handed.sent");
  text = await copied();
  check(text.includes("changes requested") && text.includes("Not yet") && text.includes("say **why**"), `what is submitted is copied: ${text}`);
  check((await page.textContent(".handed")).includes("Copied for an agent") && !(await page.innerText(".head")).includes("0 pending"), "and it is said that it is handed over");
  await page.keyboard.press("Escape");
  await page.keyboard.press("y");
  text = await copied();
  check(text.trim() === run(dir, "git-runr", "inbox", "get", id).trim(), "it is what git runr show prints");
  run(dir, "git-runr", "inbox", "claim", id, "--as", "Grace");
  await page.waitForFunction(() => document.querySelector(".handed").textContent.includes("claimed by Grace"));
  check((await page.textContent(".head .pill")) === "claimed", "who claims it is told at once");
  await clean(page, "copy");
  await end(server);
  await context.close();
}
