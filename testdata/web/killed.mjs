// The server is killed before, while and after it records a comment, an edit of one or a message: nothing is lost, and
// nothing is recorded twice.
import { check, end, lines, repository, run, serve } from "./tools.mjs";

export async function killed(browser, open) {
  const dir = repository("killed", { "a.txt": lines(60, (n) => `line ${n}`) }, { "a.txt": lines(60, (n) => `changed ${n}`) });
  run(dir, "git", "config", "runr.serve", "false");
  const id = JSON.parse(run(dir, "git-runr", "review", "--reviewer", "human", "--json")).review_id;
  let server = await serve(dir);
  const context = await browser.newContext();
  const page = await open(context, server.url);
  const url = new URL(`/review/${id}`, server.url).href;
  const kept = () => page.evaluate(() => Object.keys(localStorage).filter((k) => /^runr-(draft|message)/.test(k)));
  const settled = () => page.waitForFunction(() => !Object.keys(localStorage).some((k) => /^runr-(draft|message)/.test(k)), null, { timeout: 15000 });

  // killing kills the server some milliseconds after the first matching request, or before it for -1. done resolves
  // when the server has ended.
  const killing = async (wanted, delay) => {
    let done;
    const gone = new Promise((f) => (done = f));
    let first = true;
    await page.route("**/api/review/drafts/**", async (route) => {
      if (!first || !wanted.includes(route.request().method())) return route.continue().catch(() => {});
      first = false;
      const die = () => end(server).then(done);
      if (delay < 0) await die();
      else setTimeout(die, delay);
      await route.continue().catch(() => {}); // the page may have gone on
    });
    return gone.then(() => page.unroute("**/api/review/drafts/**"));
  };
  let row = 0;
  for (const delay of [-1, 0, 3, 8, 15, 30, 60, 200]) {
    for (const closed of [false, true]) {
      const text = `killed after ${delay}${closed ? " and closed" : ""}`;
      await page.goto(url);
      const gone = killing(["POST"], delay);
      await page.locator("tr.a td.ln:nth-child(2)").nth(row).click();
      row += 2;
      await page.waitForSelector(".editor textarea:focus");
      await page.keyboard.type(text);
      await gone;
      if (closed) await page.goto("about:blank");
      server = await serve(dir);
      if (closed) await page.goto(url);
      await settled();
      await page.goto(url);
      const there = await page.locator(".remark.draft", { hasText: new RegExp(`${text}$`, "m") }).count();
      check(there === 1 && (await kept()).length === 0, `${text}: there ${there} times`);
    }
  }
  // The same with an edit of a comment, and with the message.
  for (const delay of [-1, 0, 5, 20]) {
    await page.goto(url);
    const gone = killing(["PUT"], delay);
    await page.locator(".remark.draft [data-do=edit]").first().click();
    await page.fill(".editor textarea", `changed, killed after ${delay}`);
    await gone;
    server = await serve(dir);
    await settled();
    await page.goto(url);
    check((await page.locator(".remark.draft", { hasText: `changed, killed after ${delay}` }).count()) === 1 && (await page.locator(".remark.draft").count()) === 16, `a change killed after ${delay} is there, once`);
    const lost = killing(["PUT"], delay);
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("r");
    await page.fill("#message", `message ${delay}`);
    await lost;
    await page.goto("about:blank");
    server = await serve(dir);
    await page.goto(url);
    await settled();
    await page.goto(url);
    check((await page.inputValue("#message")) === `message ${delay}`, `a message killed after ${delay} is there`);
  }
  // Killed while the review is submitted: it is submitted with all comments, or all are still pending.
  for (const delay of [0, 10, 40]) {
    await page.goto(url);
    if (!(await page.locator(".remark.draft").count())) break;
    await page.keyboard.press("r");
    await page.route("**/submit", (route) => (setTimeout(() => end(server), delay), route.continue().catch(() => {})));
    await page.click("#finish .panel button.go").catch(() => {});
    await page.waitForTimeout(600 + delay);
    await page.unroute("**/submit");
    server = await serve(dir);
    await page.goto(url);
    const [{ status, comment_count: n }] = JSON.parse(run(dir, "git-runr", "inbox", "list", "--status", "all", "--json")).reviews;
    const pending = await page.locator(".remark.draft").count();
    check(status === "submitted" ? pending === 0 && n === 16 : pending === 16, `killed ${delay} after it is handed in: ${status}, ${n} comments, ${pending} pending`);
  }
  await page.goto("about:blank");
  await end(server);
  await context.close();
}
