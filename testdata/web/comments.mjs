// The panel of comments: order, filters, keys, answers, suggestions that are committed or handed to a
// run, on a screen and a phone, with and without a script.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, end, env, lines, repository, run, serve } from "./tools.mjs";

// talked makes a repository with a review of three files with six comments by Bob.
function talked(name) {
  const far = lines(3000, (i) => `line ${i}`);
  const dir = repository(name, { "a.js": "const a = 1;\nconst b = 2;\nconst c = 3;\n", "gone.txt": "x\n", "z/far.txt": far }, {
    "a.js": "const a = 1;\nvar b = 2;\nconst c = 4;\n", "gone.txt": null, "z/far.txt": lines(3000, (i) => `line ${i % 2 ? i : -i}`),
  });
  run(dir, "git", "config", "runr.serve", "false");
  const id = JSON.parse(run(dir, "git-runr", "review", "--reviewer", "human", "--json")).review_id;
  const said = [
    { file: "z/far.txt", startLine: 2000, comment: "far away" },
    { file: "a.js", startLine: 2, comment: "no var\n```suggestion\nconst b = 2;\n```", severity: "warning" },
    { file: "a.js", startLine: 2, endLine: 3, comment: "both at once\n```suggestion\nconst b = 2, c = 4;\n```" },
    { file: "a.js", startLine: 3, comment: "why `4`?", severity: "critical" },
    { file: "gone.txt", startLine: 1, side: "old", comment: "why is it gone?" },
    { comment: "in all: fine" },
  ];
  writeFileSync(join(dir, "..", `${name}.json`), JSON.stringify(said));
  run(dir, "git-runr", "inbox", "submit", id, "--as", "Bob", "--file", join("..", `${name}.json`), "--request-changes");
  return { dir, id };
}

const agent = `
[agents.worker]
command = ["sh", "-c", "cat >/dev/null; sleep 1; sed -i 's/4/5/' a.js; echo '## TASK COMPLETE'", "worker"]

[loop]
implementer = "worker"
`;

export async function comments(browser, open, clean) {
  const { dir, id } = talked("comments");
  const server = await serve(dir);
  const at = new URL(`/review/${id}`, server.url).href;
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await open(context, server.url);
  await page.goto(at);
  const thread = (text) => page.locator("#threads .thread", { hasText: text });
  const places = () => page.locator("#threads .thread .at > a").allTextContents();
  check((await page.textContent(".talked")) === "6 comments, 6 open", "the page says how many comments there are");

  await page.keyboard.press("C");
  await page.waitForSelector("#threads .thread");
  check((await places()).join() === "the whole change,a.js:2,a.js:2-3,a.js:3,gone.txt:1,z/far.txt:2000", `the panel has them in the order of the change: ${await places()}`);
  check((await thread("no var").locator("tr.d, tr.a").count()) === 2, "a suggestion is a small diff");
  check((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, "nothing scrolls sideways");
  check((await page.locator(".head").boundingBox()).width > 1400, "the head is as wide as before");

  // The link of a comment moves the cursor to its place, also in a file that is not loaded yet.
  await thread("no var").locator('[data-do="jump"]').click();
  check((await page.getAttribute("tr.cursor", "aria-label")).includes("var b = 2;"), "a place moves the cursor to its line");
  for (let i = 0; i < 4; i++) {
    await page.keyboard.press("n");
    await page.waitForTimeout(150);
  }
  await page.waitForFunction(() => document.activeElement.closest(".remark")?.textContent.includes("far away"));
  check(await thread("far away").getAttribute("aria-current"), "n goes on to a comment in a file that had to come first, and the panel goes along");
  await page.keyboard.press("p");
  await page.waitForFunction(() => document.activeElement.closest(".remark")?.textContent.includes("why is it gone?"));
  check(true, "p goes back");

  // An answer has the same effect as on the terminal, and a settled comment becomes one line.
  const ask = thread("why 4?");
  await ask.locator(".reply > summary").click();
  await ask.locator("select").selectOption("refuted");
  await ask.getByLabel("Reason").fill("four is right");
  await ask.locator(".reply button", { hasText: "Record" }).click();
  await page.waitForFunction(() => !document.querySelector("#threads").textContent.includes("why 4?"));
  check((await page.textContent('#threads [aria-current="true"]:is(a)')) === "open 5", "the counts say so");
  check(JSON.parse(run(dir, "git-runr", "inbox", "get", id, "--json")).answers[0].reason === "four is right", "so does the terminal");
  check((await page.locator(".files .remark.settled", { hasText: "four is right" }).boundingBox()).height < 40, "in the diff it is one line");
  await page.locator('#threads [data-do="show-threads"]', { hasText: "resolved" }).click();
  await thread("four is right").waitFor();
  check((await thread("four is right").boundingBox()).height < 70, "in the panel too");
  await thread("four is right").locator("summary").first().click();
  check(await thread("four is right").locator(".answer").isVisible(), "that opens");
  await page.locator('#threads [data-do="show-threads"]', { hasText: "mine" }).click();
  await page.waitForSelector("#threads .empty");
  await page.keyboard.press("Escape");
  check(!(await page.locator("#threads").isVisible()) && (await page.evaluate(() => document.activeElement.matches("tr.cursor, .fh.cursor, .remark"))), "Escape shuts it and gives the focus back");

  // Suggestions are committed on their own branch. For one that does not fit, the page shows why beside it.
  await page.keyboard.press("C");
  await page.locator('#threads [data-do="show-threads"]', { hasText: "all" }).click();
  await thread("no var").locator("button", { hasText: "Commit" }).click();
  await thread("no var").getByText("applied as").waitFor();
  const branch = run(dir, "git", "branch", "--list", "--format=%(refname:short)", "runr/suggestions/*").trim();
  check(run(dir, "git", "show", `${branch}:a.js`).includes("const b = 2;"), "the suggestion is a commit");
  check(run(dir, "git", "status", "--porcelain") === "", "and the files are as they were");
  check((await thread("no var").locator(".cmd code").first().textContent()) === `git merge ${branch}`, "it says how it is taken over");
  check(await page.locator(".files .remark", { hasText: "no var" }).getByText("applied as").isVisible(), "in the diff as well");
  await clean(page, "the panel");
  await thread("both at once").locator("button", { hasText: "Commit" }).click();
  await page.waitForSelector("#threads .refused");
  check((await page.textContent("#threads .refused")).includes("the lines were changed"), "what does not fit any more is refused where it stands");
  check((await page.locator("#threads .refused code").first().textContent()).includes(`git runr run --review ${id} --finding`), "with what to type");

  // A run is refused with the same reason as on the terminal, then begins.
  await thread("both at once").locator("button", { hasText: "Hand" }).click();
  await page.waitForFunction(() => document.querySelector("#threads .refused")?.textContent.includes("no implementer"));
  mkdirSync(join(env.HOME, ".config", "git-runr"), { recursive: true });
  writeFileSync(join(env.HOME, ".config", "git-runr", "config.toml"), agent);
  await thread("both at once").locator("button", { hasText: "Hand" }).click();
  await page.waitForSelector('.about a[href^="/run/"]');
  check(await thread("both at once").locator('a[href^="/run/"]').isVisible(), "the comment names its run");
  check(JSON.parse(run(dir, "git-runr", "show", "--json")).plan.findings.length === 1, "a run has that finding alone");
  page.trouble.length = 0; // the browser tells of answers that refuse
  await page.goto("about:blank");
  await context.close();

  const phone = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true });
  const small = await open(phone, server.url);
  await small.goto(at);
  await small.locator(".talked").tap();
  await small.waitForSelector("#threads .thread");
  const box = await small.locator("#threads").boundingBox();
  check(box.x === 0 && box.width === 390, "on a phone the panel is the screen");
  await small.locator("#threads .thread", { hasText: "no var" }).locator('[data-do="jump"]').tap();
  await small.waitForFunction(() => document.querySelector("#threads").hidden);
  check(await small.locator("tr.cursor").isVisible(), "and gives way to the line that was chosen");
  await phone.close();

  const plain = await browser.newContext({ javaScriptEnabled: false });
  const reader = await plain.newPage();
  await reader.goto(server.url);
  await reader.goto(`${at}/comments?show=resolved`);
  check((await reader.locator(".thread.resolved").count()) > 0 && !(await reader.locator(".thread:not(.resolved)").count()), "without a script the address filters");
  await reader.locator(".views a", { hasText: "open" }).click();
  await reader.locator(".thread", { hasText: "in all: fine" }).locator(".reply > summary").click();
  const form = reader.locator(".thread", { hasText: "in all: fine" });
  await form.locator("select").selectOption("deferred");
  await form.getByLabel("Reason").fill("thanks");
  await form.locator("button", { hasText: "Record" }).click();
  await reader.waitForURL("**/comments?show=open#t-c-*");
  check((await reader.locator(".views").textContent()).includes("answered 1"), `and an answer comes back to it: ${reader.url()}`);
  await reader.locator(".thread", { hasText: "far away" }).locator(".at a").click();
  await reader.locator(".remark", { hasText: "far away" }).waitFor();
  check(true, "a place leads to the comment in its file");
  await plain.close();
  await end(server);
}
