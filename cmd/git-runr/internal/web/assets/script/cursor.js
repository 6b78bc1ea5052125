
/* The cursor: one for the whole page, on a line or on the heading of a file */

let cursor = null;
let preferred = "new"; // the side of a line that has two

const folded = (section) => section.classList.contains("folded");

// stopsOf returns the places in a file where the cursor can be.
function stopsOf(section) {
  return [$(".fh", section), ...(folded(section) ? [] : linesOf(section))];
}

// ceiling returns the lower edge of the heading that sticks to the top of the window.
const ceiling = () => $(".head")?.getBoundingClientRect().bottom ?? 40;

function inSight(element) {
  const box = element.getBoundingClientRect();
  return box.height > 0 && box.bottom > ceiling() && box.top < innerHeight;
}

// firstSeen returns the first visible line, or the heading of a file that shows no lines.
function firstSeen() {
  const top = ceiling() + 20;
  for (const section of $$(".file")) {
    if (section.getBoundingClientRect().bottom < top) continue;
    const stops = stopsOf(section);
    return stops.slice(1).find((row) => row.getBoundingClientRect().top >= top) ?? stops[0];
  }
}

// cursorTo moves the cursor and the focus to a line or a heading. With keep, the selected lines stay selected.
function cursorTo(stop, { keep = false, block = "nearest" } = {}) {
  if (!stop) return;
  cursor?.classList.remove("cursor");
  cursor?.removeAttribute("data-at");
  cursor = stop;
  stop.classList.add("cursor");
  stop.tabIndex = -1;
  stop.focus({ preventScroll: true });
  if (block) stop.scrollIntoView({ block });
  current(stop.closest(".file"), true);
  if (!keep) unchoose();
  if (stop.tagName !== "TR") return;
  const cell = cellOn(stop, preferred);
  const { side, line } = lineOf(cell);
  stop.dataset.at = side;
  if (!keep) choose(side, stop, stop);
  const mark = codeOn(cell).classList.contains("a") || stop.classList.contains("a") ? "added" : side === "old" ? "before" : "";
  stop.setAttribute("aria-label", `line ${line} ${mark}: ${codeOn(cell).textContent}`);
  $("mark", codeOn(cell))?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

// neighbour returns the place before or after the cursor, across files.
async function neighbour(step) {
  const section = cursor.closest(".file");
  const stops = stopsOf(section);
  const near = stops[stops.indexOf(cursor) + step];
  if (near) return near;
  const files = shownFiles();
  const next = files[files.indexOf(section) + step];
  if (!next) return null;
  if (next.hasAttribute("data-lazy")) await load(next);
  return step > 0 ? $(".fh", next) : stopsOf(next).at(-1);
}

const shownFiles = () => $$(".file").filter((section) => !section.hidden);

let moving = Promise.resolve();

// move moves the cursor by one place. Moves run one after the other, because a move may have to load a file.
function move(step, extend) {
  moving = moving.then(() => moveNow(step, extend)).catch(complain);
  return moving;
}

async function moveNow(step, extend) {
  if (!cursor?.isConnected || !inSight(cursor)) return cursorTo(firstSeen());
  if (!extend || cursor.tagName !== "TR") return cursorTo(await neighbour(step));
  const stops = stopsOf(cursor.closest(".file"));
  const next = stops[stops.indexOf(cursor) + step];
  if (next?.tagName !== "TR") return;
  const from = chosen?.from ?? cursor;
  const side = chosen?.side ?? preferred;
  cursorTo(next, { keep: true });
  choose(side, from, next);
}

function toSide(side) {
  preferred = side;
  cursorTo(cursor?.isConnected ? cursor : firstSeen());
}

function currentFile() {
  if (cursor?.isConnected) return cursor.closest(".file");
  return firstSeen()?.closest(".file");
}

// goFile moves the cursor to the heading of the next or the previous file.
async function goFile(step) {
  const files = shownFiles();
  let next;
  if (cursor?.isConnected) {
    const at = files.indexOf(cursor.closest(".file"));
    next = step < 0 && cursor.tagName === "TR" ? files[at] : files[at + step];
  } else {
    next = step > 0 ? files.find((f) => f.getBoundingClientRect().top >= ceiling() - 5) : files.findLast((f) => f.getBoundingClientRect().top < ceiling());
  }
  if (next) await goTo(next);
}

async function goTo(section) {
  cursorTo($(".fh", section), { block: null });
  section.scrollIntoView();
  if (!section.hasAttribute("data-lazy")) return;
  await load(section);
  cursorTo($(".fh", section), { block: null });
  section.scrollIntoView();
}

const isChanged = (row) => row.matches(".a, .d") || Boolean($("td.a, td.d", row));

// rowBefore returns the row above row, without rows of comments.
function rowBefore(row) {
  do row = row.previousElementSibling;
  while (row?.matches(".notes, .writing"));
  return row;
}

// goChange moves the cursor to the beginning of the next or the previous block of changed lines.
async function goChange(step) {
  const files = shownFiles();
  const from = cursor?.isConnected ? cursor : firstSeen();
  if (!from) return;
  let section = from.closest(".file");
  let rows = linesOf(section);
  let at = rows.indexOf(from);
  for (;;) {
    const starts = rows.filter((row, i) => isChanged(row) && !(i > 0 && isChanged(rows[i - 1]) && rowBefore(row) === rows[i - 1]));
    const next = step > 0 ? starts.find((row) => rows.indexOf(row) > at) : starts.findLast((row) => rows.indexOf(row) < at);
    if (next && !folded(section)) return cursorTo(next, { block: "center" });
    section = files[files.indexOf(section) + step];
    if (!section) return;
    if (section.hasAttribute("data-lazy")) await load(section);
    rows = linesOf(section);
    at = step > 0 ? -1 : rows.length;
  }
}

function goRemark(step) {
  if (panelOpen()) return goThread(step);
  const remarks = $$(".remark").filter((r) => !r.hidden && r.getClientRects().length);
  const here = document.activeElement?.closest?.(".remark");
  let next = remarks[remarks.indexOf(here) + step];
  if (!here) {
    const behind = (r) => Boolean(cursor?.isConnected) && Boolean(cursor.compareDocumentPosition(r) & Node.DOCUMENT_POSITION_FOLLOWING);
    if (cursor?.isConnected) next = step > 0 ? remarks.find(behind) : remarks.findLast((r) => !behind(r));
    else next = step > 0 ? remarks.find((r) => r.getBoundingClientRect().top > ceiling()) : remarks.findLast((r) => r.getBoundingClientRect().top < ceiling());
  }
  if (next) showRemark(next);
}

// showRemark scrolls to a comment, gives it the focus, and moves the cursor to its line.
function showRemark(remark) {
  const section = remark.closest(".file");
  if (section) {
    setFolded(section, false);
    let row = remark.closest("tr")?.previousElementSibling;
    while (row && !isLine(row)) row = row.previousElementSibling;
    cursorTo(row ?? $(".fh", section), { block: null });
  }
  const shut = $(":scope.settled > details", remark);
  if (shut) shut.open = true;
  markThread(remark.dataset.id);
  for (let fold = remark.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  remark.scrollIntoView({ block: "center" });
  remark.focus({ preventScroll: true });
}

/* Keeping the place when the view changes */

const placeKey = `runr-place ${location.pathname}`;

function keepPlace() {
  if (!cursor?.isConnected) return;
  const kept = { file: cursor.closest(".file").id, y: cursor.getBoundingClientRect().top };
  if (cursor.tagName === "TR") Object.assign(kept, lineOf(cellOn(cursor, preferred)));
  sessionStorage.setItem(placeKey, JSON.stringify(kept));
}

async function findPlace() {
  const kept = JSON.parse(sessionStorage.getItem(placeKey) ?? "null");
  sessionStorage.removeItem(placeKey);
  const section = kept && document.getElementById(kept.file);
  if (!section) return;
  if (section.hasAttribute("data-lazy")) await load(section);
  if (kept.side) preferred = kept.side;
  const row = linesOf(section).find((r) => {
    const at = lineOf(cellOn(r, kept.side));
    return at.side === kept.side && at.line === kept.line;
  });
  cursorTo(row ?? $(".fh", section), { block: null });
  scrollBy(0, cursor.getBoundingClientRect().top - kept.y);
}

// showAs stores a setting that changes how the server renders diffs, and reloads the page.
function showAs(setting, value) {
  remember(setting, value);
  keepPlace();
  const at = new URL(location.href);
  at.searchParams.delete(setting);
  at.searchParams.delete("sent");
  at.hash = "";
  if (at.href === location.href) location.reload();
  else location.assign(at);
}

async function jump(link) {
  const id = decodeURIComponent(new URL(link.href).hash.slice(1));
  const section = document.getElementById(link.dataset.file);
  if (section && toLoad(section)) await load(section);
  const target = document.getElementById(id);
  if (!target) return location.assign(link.href);
  history.replaceState(null, "", `#${encodeURIComponent(id)}`);
  showRemark(target);
}
