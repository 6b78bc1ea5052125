// Pictures of the pages for people to look at: dark and light, wide and narrow.
import { join } from "node:path";
import { check, end, lines, repository, run, serve } from "./tools.mjs";

const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC", "base64");

export async function screenshots(browser, open, dir) {
  const go = "package main\n\nimport \"fmt\"\n\n// add gives the sum.\nfunc add(a, b int) int {\n\treturn a + b\n}\n\nfunc main() {\n\tfmt.Println(\"sum:\", add(1, 2))\n}\n";
  const repo = repository("pictures", {
    "main.go": go, "old/name.go": go, "big.txt": lines(5000, (i) => `line ${i}`), "logo.png": png, "data.bin": Buffer.from([0, 1, 2, 3]),
    "long.json": `{"a":"${"x".repeat(4000)}"}\n`, "rtl.md": "# שלום\n\nالسلام عليكم\n", "style.css": "a { color: red }\n",
  }, {
    "main.go": go.replace("a + b", "a - b // \u202eevil\u202c").replace("sum:", "difference:"), "old/name.go": null, "new/name.go": go.replace("sum", "total"),
    "big.txt": lines(5000, (i) => `line ${i % 3 ? i : -i}`), "logo.png": Buffer.concat([png, Buffer.from("x")]), "data.bin": Buffer.from([0, 9, 2, 3]),
    "long.json": `{"a":"${"x".repeat(2000)}y${"x".repeat(2000)}","b":[1,2,3]}\n`, "rtl.md": "# שלום עולם\n\nالسلام عليكم ورحمة الله\n", "style.css": "a { color: blue }\nb { margin: 0 }\n",
  });
  const id = JSON.parse(run(repo, "git-runr", "review", "--reviewer", "human", "-m", "Please check the *sum*.", "--json")).review_id;
  run(repo, "git-runr", "inbox", "comment", id, "main.go:7", "-m", "This subtracts.\n\n```suggestion\n\treturn a + b\n```", "--severity", "critical");
  run(repo, "git-runr", "inbox", "submit", id, "--request-changes", "-m", "One thing is wrong, the rest is fine.");
  run(repo, "git-runr", "review", "--wait", "--reviewer", "builtin", "HEAD~1");
  const server = await serve(repo);
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 400]) {
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
      const page = await open(context, server.url);
      const shot = async (path, name) => {
        await page.goto(new URL(path, server.url).href);
        await page.waitForTimeout(200);
        await page.screenshot({ path: join(dir, `${name}-${colorScheme}-${width}.png`) });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        check(wide <= 0, `${name} at ${width} does not scroll sideways: ${wide}`);
      };
      await shot("/review", "inbox");
      await shot(`/review/${id}`, "review");
      await shot(`/review/${id}?view=split`, "split");
      await context.close();
    }
  }
  await end(server);
}
