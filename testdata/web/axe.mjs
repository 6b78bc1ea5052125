// axe-core finds nothing on any page: light, dark, or with forced colours. With reduced motion nothing moves.
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, end, run, serve } from "./tools.mjs";
import { runsOf } from "./runs.mjs";

// commit commits files in a repository.
function commit(dir, title, files) {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(dir, path), text);
  run(dir, "git", "add", "-A");
  run(dir, "git", "commit", "-qm", title);
}

const faces = {
  light: { colorScheme: "light" }, dark: { colorScheme: "dark" },
  forced: { forcedColors: "active", reducedMotion: "reduce" }, "forced and dark": { forcedColors: "active", colorScheme: "dark" },
};

export async function axe(browser, open) {
  const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  const made = runsOf("axe");
  const { dir } = made;
  const text = "package a\n\nvar a = 1\n";
  const [asking, stopped, done, landed] = [made.asking("--max-retries", "1"), made.stopped(), made.done(), made.done()];
  run(dir, "git-runr", "land", landed);
  commit(dir, "before", { "a.go": text.repeat(30), "b.md": "# b\n" });
  commit(dir, "Change the things", { "a.go": text.repeat(14) + "var x = 2 // words\n" + text.repeat(15) + "package a\n\nvar b = 1\n", "b.md": "# b\n\n- [ ] do\n" });
  const id = JSON.parse(run(dir, "git-runr", "review", "--reviewer", "human", "-m", "Look.", "--json")).review_id;
  run(dir, "git-runr", "inbox", "comment", id, "a.go:43", "-m", "Why?\n\n```suggestion\nvar x = 3\n```", "--severity", "critical");
  const settled = JSON.parse(run(dir, "git-runr", "inbox", "comment", id, "b.md:1", "-m", "A heading?", "--json")).comment.id;
  run(dir, "git-runr", "inbox", "submit", id, "--request-changes", "-m", "No.");
  run(dir, "git-runr", "inbox", "answer", id, settled, "refuted", "-m", "It is one.");
  run(dir, "git-runr", "inbox", "comment", id, "b.md:3", "-m", "more");
  const server = await serve(dir);
  const going = made.running();
  for (const [face, options] of Object.entries(faces)) {
    const context = await browser.newContext({ ...options, viewport: { width: 1440, height: 900 } });
    const stranger = await (await browser.newContext(options)).newPage();
    const page = await open(context, server.url);
    const clean = async (on, what) => {
      // A colour that fades in has poor contrast on its way. What moves without end has no last moment to wait for.
      await on.evaluate(() => Promise.allSettled(document.getAnimations().filter((a) => a.effect.getComputedTiming().endTime < Infinity).map((a) => a.finished)));
      await on.evaluate(source);
      const found = await on.evaluate(async () => (await window.axe.run(document, { resultTypes: ["violations"] })).violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => `${n.html.slice(0, 160)} ${n.any[0]?.message ?? ""}`).join(" | ")}`));
      check(found.length === 0, `${what} is clean for axe-core (${face}): ${found.join("\n")}`);
    };
    const look = async (path, before) => {
      await page.goto(new URL(path, server.url).href);
      await page.waitForTimeout(200);
      await before?.();
      await clean(page, path);
    };
    const press = async (...all) => { for (const key of all) await page.keyboard.press(key); };
    for (const path of ["/review", "/review?status=all", `/review/${id}`, `/review/${id}?view=split`, `/review/${id}/file?path=a.go`, `/review/${id}/diff?path=a.go`, `/review/${id}/diff?path=b.md&rendered=1`, `/review/${id}?space=ignore`, `/review/${id}/diff?path=a.go&blame=1`, `/review/${id}/diff?path=a.go&blame=1&view=split`, `/review/${id}/comment?path=a.go`, `/review/${id}/comments?show=all`, "/runs", "/metrics", "/review/nix", "/nowhere"]) await look(path);
    await look(`/review/${id}`, async () => {
      await page.click(".talk > summary");
      await press("r");
    });
    await look(`/review/${id}`, () => press("ArrowDown", "c"));
    await look(`/review/${id}`, async () => {
      await press("C");
      await page.click('#threads [data-do="show-threads"]:has-text("all")');
      await page.locator("#threads .thread.resolved summary").first().click();
      await page.locator("#threads .thread.critical .reply > summary").click();
    });
    await press("Escape"); // it would be there on the next page as well
    await look(`/review/${id}`, () => press("]", "ArrowDown", "Shift+ArrowUp", "Shift+ArrowUp"));
    const [under, marked] = await page.evaluate(() => {
      const probe = document.body.appendChild(document.createElement("i"));
      Object.assign(probe.style, { backgroundColor: "Highlight", forcedColorAdjust: "none" });
      return [document.querySelector("tr.on .ln:nth-child(2)"), probe].map((e) => getComputedStyle(e).backgroundColor);
    });
    check(!options.forcedColors || under === marked, `lines that are chosen are marked as what is chosen is (${face}): ${under}, wanted ${marked}`);
    const [running] = await page.goto(new URL("/runs", server.url).href).then(() => page.locator(".list li", { has: page.locator(".pill", { hasText: "live" }) }).locator(".title").evaluateAll((all) => all.map((a) => a.getAttribute("href"))));
    for (const path of [running, `/run/${asking}`, `/run/${stopped}`, `/run/${done}`, `/run/${landed}`]) await look(path);
    await look(`/run/${done}`, () => page.click(".act > summary"));
    await look(`/run/${asking}`, () => page.click("text=Intervene …"));
    if (options.reducedMotion) {
      await page.goto(new URL(running, server.url).href);
      const moving = await page.evaluate(() => [...document.querySelectorAll("*")].filter((e) => getComputedStyle(e).animationName !== "none" || !/^0s(, 0s)*$/.test(getComputedStyle(e).transitionDuration)).map((e) => e.outerHTML.slice(0, 80)));
      check((await page.locator(".now").count()) === 1 && moving.length === 0, `nothing moves: ${moving}`);
    }
    for (const path of ["/review", "/login?token=nix"]) {
      await stranger.goto(new URL(path, server.url).href);
      await clean(stranger, `${path} of a stranger`);
    }
    await stranger.context().close();
    await context.close();
  }
  going.let();
  await going.over;
  await end(server);
}
