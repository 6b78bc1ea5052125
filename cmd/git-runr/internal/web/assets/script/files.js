/* Files that are loaded later */

const waiting = [];
let loading = 0;

const nearby = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      nearby.unobserve(entry.target);
      waiting.push(entry.target);
    }
    loadNext();
  },
  { rootMargin: "300px 0px 1500px" },
);

function loadNext() {
  while (loading < 3 && waiting.length) {
    const section = waiting.shift();
    if (!section.isConnected || !section.hasAttribute("data-lazy")) continue;
    loading++;
    load(section).finally(() => {
      loading--;
      loadNext();
    });
  }
}

// toLoad returns the link to the diff of a file that is not loaded yet.
function toLoad(section) {
  return $('.fb > .load [data-do="load"]', section);
}

// load replaces the placeholder of a file by its diff. Visible lines keep their position when a file above them grows.
async function load(section, url = toLoad(section)?.href) {
  if (!url || $(".editor", section)) return;
  section.removeAttribute("data-lazy");
  try {
    const fresh = (await part(url)).querySelector(".file");
    const { bottom } = section.getBoundingClientRect();
    const held = section.contains(cursor) || section.contains(document.activeElement);
    const shut = folded(section) && !toLoad(section);
    for (const { name, value } of fresh.attributes) section.setAttribute(name, value);
    section.replaceChildren(...fresh.childNodes);
    setFolded(section, shut);
    tint(section);
    if (allLines) await expand(section);
    if (bottom < ceiling()) scrollBy(0, section.getBoundingClientRect().bottom - bottom);
    if (held) cursorTo($(".fh", section), { block: null });
  } catch (err) {
    ($(".load", section) ?? section).append(` ${err.message} `);
  }
}

async function more(link) {
  const section = link.closest(".file");
  const line = link.closest(".load");
  const fresh = await part(link.href);
  $("tbody", section).append(...$$("tbody > tr", fresh));
  const next = $(".more", fresh);
  if (next) line.replaceWith(next);
  else line.remove();
}

/* Unchanged lines */

// openGap shows all lines of a gap, or some at its upper or lower end.
async function openGap(row, way = "all") {
  const d = row.dataset;
  const step = 20;
  const n = way === "all" ? Math.min(d.count, 4000) : Math.min(d.count, step);
  const skip = way === "up" ? d.count - n : 0;
  const at = new URL(d.lines, location.href);
  for (const [name, value] of Object.entries({ old: Number(d.old) + skip, new: Number(d.new) + skip, count: n })) at.searchParams.set(name, value);
  const rows = $$("tbody > tr", await part(at));
  const section = row.closest(".file");
  for (const remark of rows.flatMap((r) => $$(".remark", r))) document.getElementById(remark.id)?.remove();
  if (way === "up") row.after(...rows);
  else row.before(...rows);
  d.count -= n;
  if (way !== "up") {
    d.old = Number(d.old) + n;
    d.new = Number(d.new) + n;
  }
  if (d.count < 1) row.remove();
  else $(".left", row).textContent = plural(Number(d.count), "line");
  if (d.count <= step) for (const button of $$("button", row)) button.remove();
  tint(section);
  return rows;
}

// expand shows all lines of a file.
async function expand(section) {
  setFolded(section, false);
  if (toLoad(section)) await load(section);
  for (let row; (row = $("tr.gap", section)); ) await openGap(row);
}

let allLines = false;

// expandAll shows all lines of all files, also of files that are loaded later.
async function expandAll() {
  allLines = true;
  for (const section of $$(".file:not([data-lazy])")) await expand(section);
}

/* Files folded and viewed */

function setFolded(section, shut) {
  section.classList.toggle("folded", shut);
  $(".fold", section)?.setAttribute("aria-expanded", String(!shut));
}

// fold folds a file to its heading, or unfolds it.
async function fold(section) {
  const shut = !folded(section);
  setFolded(section, shut);
  if (!shut && toLoad(section)) await load(section);
  if (shut && section.contains(cursor)) cursorTo($(".fh", section));
  if (shut && section.getBoundingClientRect().top < ceiling()) section.scrollIntoView();
}

async function toggleViewed(section, viewed = !section.classList.contains("viewed")) {
  const button = $(".seen", section);
  if (!reviewID || section.classList.contains("viewed") === viewed) return;
  await api("PUT", "/viewed", { file: section.dataset.path, viewed });
  button?.setAttribute("aria-pressed", String(viewed));
  section.classList.toggle("viewed", viewed);
  treeViewed(section, viewed);
  const progress = document.getElementById("progress");
  if (progress) {
    progress.value += viewed ? 1 : -1;
    document.getElementById("viewed").textContent = progress.value;
  }
  say(viewed ? "viewed" : "not viewed");
  if (folded(section) !== viewed) await fold(section);
}
