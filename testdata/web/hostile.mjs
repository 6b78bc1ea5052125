// Text that tries to be a script, wherever somebody else can put text.
import { check, end, repository, run, serve } from "./tools.mjs";

const payloads = [
  "<script>pwned=1</script>",
  "</script><script>pwned=1</script>",
  "<img src=x onerror=pwned=1>",
  "<svg onload=pwned=1>",
  "<svg><script>pwned=1</script></svg>",
  "<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
  "<body onload=pwned=1>",
  "<details open ontoggle=pwned=1>",
  "<a href='javascript:pwned=1'>x</a>",
  "[x](javascript:pwned=1)",
  "[x](JaVaScRiPt:pwned=1)",
  "[x](java&#115;cript:pwned=1)",
  "[x]( javascript:pwned=1 'title')",
  "[x](data:text/html,<script>pwned=1</script>)",
  "[x](vbscript:pwned=1)",
  "![x](x\" onerror=\"pwned=1)",
  "![x](https://example.invalid/beacon.png)",
  "<https://example.invalid/\"onmouseover=pwned=1>",
  "<javascript:pwned=1>",
  "[a]: javascript:pwned=1\n\n[a]",
  "`<script>pwned=1</script>`",
  "```html\n<script>pwned=1</script>\n```",
  "```suggestion\n<script>pwned=1</script>\n```",
  "\"><script>pwned=1</script>",
  "' autofocus onfocus=pwned=1 x='",
  "{{.}}{{printf \"%s\" .}}${pwned=1}",
  "<math><mtext></form><form><mglyph><style></math><img src onerror=pwned=1>",
  "<style>*{display:none}</style>",
  "<base href=https://example.invalid/>",
  "<form action=https://example.invalid/><input name=a></form>",
  "<meta http-equiv=refresh content=0;url=https://example.invalid/>",
  "\u202e\u2066<script>pwned=1</script>\u2069",
  "\u0000<script>pwned=1</script>\u001b[2J",
];

export async function hostile(browser, open, clean) {
  const named = payloads.map((p) => p.replaceAll("/", "∕").replaceAll("\u0000", "")).filter((p) => p.length < 200);
  const first = { "plain.txt": "one\n" };
  const second = { "plain.txt": `one\n${payloads.join("\n").replaceAll("\u0000", "")}\n` };
  for (const name of named) second[name] = `${name}\n`;
  const dir = repository("hostile", first, second);
  run(dir, "git", "commit", "-q", "--amend", "-m", payloads[0] + payloads[2]);
  const id = JSON.parse(run(dir, "git-runr", "review", "--reviewer", "human", "-m", payloads.filter((p) => !p.includes("\u0000")).join("\n\n"), "--json")).review_id;
  for (const p of payloads) {
    const text = p.replaceAll("\u0000", "");
    run(dir, "git-runr", "inbox", "comment", id, "plain.txt:2", "-m", text);
    run(dir, "git-runr", "inbox", "comment", id, "-m", text);
  }
  run(dir, "git-runr", "inbox", "submit", id, "--request-changes", "-m", payloads[2], "--as", payloads[1]);
  run(dir, "git-runr", "inbox", "submit", id, "--request-changes", "-m", payloads[2]);
  const server = await serve(dir);
  const context = await browser.newContext();
  const requests = [];
  context.on("request", (r) => requests.push(r.url()));
  const page = await open(context, server.url);
  for (const path of ["/review", `/review/${id}`, `/review/${id}?view=split`, "/runs"]) {
    await page.goto(new URL(path, server.url).href);
    await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
    await page.waitForTimeout(150);
    check((await page.evaluate(() => window.pwned)) === undefined, `${path}: nothing of it ran`);
    check((await page.$$("main img[src^='http:'], main img[src^='https:'], main iframe, main base, main style, main script")).length === 0, `${path}: nothing of it became an element`);
    const links = await page.$$eval("main a", (all) => all.map((a) => a.protocol));
    check(links.every((p) => ["http:", "https:", "mailto:"].includes(p)), `${path}: no link but to pages: ${[...new Set(links)]}`);
    await clean(page, path);
  }
  const foreign = requests.filter((u) => new URL(u).host !== new URL(server.url).host && !u.startsWith("data:"));
  check(foreign.length === 0, `nothing is loaded from elsewhere: ${foreign}`);
  await end(server);
}
