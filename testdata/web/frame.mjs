// One frame for all pages: the heading and what is below it begin and end at the same places.
import { check, end, run, serve } from "./tools.mjs";
import { runsOf } from "./runs.mjs";

// edges returns where the visible content of the heading and of the page begins and ends.
const edges = () => {
  const inner = (e) => {
    const [box, style] = [e.getBoundingClientRect(), getComputedStyle(e)];
    return [box.left + parseFloat(style.paddingLeft), box.right - parseFloat(style.paddingRight)].map(Math.round);
  };
  return [document.querySelector(".bar"), document.querySelector("#main > :not(template)")].map(inner);
};

export async function frame(browser, open, clean) {
  const made = runsOf("frame");
  const asked = made.asking("--max-retries", "1");
  const review = JSON.parse(run(made.dir, "git-runr", "review", "--reviewer", "human", "--json")).review_id;
  const server = await serve(made.dir);
  const context = await browser.newContext();
  const page = await open(context, server.url);
  const paths = ["/review", `/review/${review}`, `/review/${review}/file?path=a.txt`, "/runs", `/run/${asked}`, "/metrics", "/nowhere"];
  for (const [width, wide] of [[1440, 1408], [1920, 1680], [390, 370]]) {
    await page.setViewportSize({ width, height: 900 });
    for (const path of paths) {
      await page.goto(new URL(path, server.url).href);
      const [bar, main] = await page.evaluate(edges);
      check(`${bar}` === `${main}` && main[1] - main[0] === wide, `${path} at ${width} is in the frame: ${bar} and ${main}`);
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(beyond <= 0, `${path} at ${width} does not scroll sideways: ${beyond}`);
      check((await page.title()).includes("frame (main)") && (await page.textContent(".bar .where")).includes("frame main"), `${path} says which repository and branch`);
    }
  }
  // Charts are as wide as the frame, and a table has the same content.
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(new URL(`/run/${asked}`, server.url).href);
  const [plot, last] = await page.evaluate(() => [".plot .lane", ".plot a:last-of-type :is(rect, circle)"].map((s) => document.querySelector(s).getBoundingClientRect().right));
  check(last <= plot && last > plot - 60, `the last mark is at the end of the picture: ${last} of ${plot}`);
  await page.goto(new URL("/metrics", server.url).href);
  const tables = await page.evaluate(() => [...document.querySelectorAll(".chart")].map((t) => `${t.caption.textContent}: ${[...t.tBodies[0].rows].map((r) => `${r.cells[0].textContent} ${r.cells[2].textContent}`)}`));
  check(tables.some((t) => t.startsWith("Findings: ")) && tables.some((t) => t === "Stops: review_loop_detected 1"), `pictures are tables: ${tables}`);
  page.trouble.length = 0; // the page that is not there
  await clean(page, "frame");
  await end(server);
  await context.close();
}
