// What the pages do beyond reading and forms. Without this script all is still there.

const root = document.documentElement;
const token = document.body.dataset.token;
const watched = document.body.dataset.watched;
const reviewID = document.querySelector("[data-review]")?.dataset.review;
const news = document.getElementById("news");
const said = document.getElementById("said");

root.classList.add("scripted");

const $ = (selector, from = document) => from.querySelector(selector);
const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];
const plural = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

function remember(name, value) {
  document.cookie = `runr-${name}=${value}; path=/; max-age=31536000; samesite=strict`;
}

function say(text) {
  said.textContent = text;
}

/* Asking the server */

async function checked(answer) {
  if (answer.ok) return answer;
  const text = await answer.text();
  let message = text;
  try {
    message = JSON.parse(text).error ?? text;
  } catch {
    if (text.startsWith("<")) message = "";
  }
  throw new Error(message || `the server answered ${answer.status}`);
}

async function api(method, path, body) {
  const answer = await fetch(`/api/review/drafts/${encodeURIComponent(reviewID)}${path}`, {
    method,
    headers: { "Content-Type": "application/json" },
    body: body && JSON.stringify(body),
    keepalive: true,
  });
  return (await checked(answer)).json();
}

function elements(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return holder.content;
}

async function part(url) {
  const at = new URL(url, location.href);
  at.searchParams.set("fragment", "1");
  at.searchParams.set("view", splitNow() ? "split" : "unified");
  return elements(await (await checked(await fetch(at))).text());
}

function splitNow() {
  return Boolean($('.views [data-do="split"][aria-current]'));
}

/* Files that come later */

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

// toLoad is the link to a file's diff that is not here yet.
function toLoad(section) {
  return $('.fb > .load [data-do="load"]', section);
}

// load puts a file's diff where its place was kept. What is in sight stays there when
// a file above it grows.
async function load(section, url = toLoad(section)?.href) {
  if (!url || $(".editor", section)) return;
  section.removeAttribute("data-lazy");
  try {
    const fresh = (await part(url)).querySelector(".file");
    const { bottom } = section.getBoundingClientRect();
    for (const { name, value } of fresh.attributes) section.setAttribute(name, value);
    section.replaceChildren(...fresh.childNodes);
    section.classList.toggle("open", section.classList.contains("viewed"));
    if (bottom < 60) scrollBy(0, section.getBoundingClientRect().bottom - bottom);
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

/* Lines */

// lineOf is the side and number of the line that a cell of a diff belongs to.
function lineOf(cell) {
  const row = cell.closest("tr");
  const table = row.closest("table");
  const number = (i) => Number(row.cells[i]?.textContent || 0);
  if (table.classList.contains("whole")) return { side: row.closest(".file").dataset.side, line: number(0) };
  if (table.classList.contains("split")) {
    const left = cell.cellIndex < 3;
    return { side: left ? "old" : "new", line: number(left ? 0 : 3) };
  }
  if (row.classList.contains("d")) return { side: "old", line: number(0) };
  return { side: "new", line: number(1) };
}

// cellOn is a cell of the row that stands for a side, for lineOf.
function cellOn(row, side) {
  const split = row.closest("table").classList.contains("split");
  return row.cells[split && side === "new" ? 3 : 0];
}

function isLine(row) {
  return row && !row.matches(".hunk, .notes, .writing");
}

// chosen is the range of lines that a comment would be about.
let chosen = null;

function choose(table, side, from, to) {
  unchoose();
  chosen = { table, side, start: Math.min(from, to), end: Math.max(from, to), from, rows: [] };
  for (const row of table.rows) {
    if (!isLine(row)) continue;
    const at = lineOf(cellOn(row, side));
    if (at.side === side && at.line >= chosen.start && at.line <= chosen.end) {
      row.classList.add("on");
      chosen.rows.push(row);
    }
  }
}

function unchoose() {
  for (const row of chosen?.rows ?? []) row.classList.remove("on");
  chosen = null;
}

let cursor = null;

function moveCursor(table, step, extend) {
  const rows = [...table.rows].filter(isLine);
  let i = cursor?.isConnected && table.contains(cursor) ? rows.indexOf(cursor) + step : firstSeen(rows);
  i = Math.max(0, Math.min(rows.length - 1, i));
  cursor?.classList.remove("cursor");
  cursor = rows[i];
  cursor.classList.add("cursor");
  cursor.scrollIntoView({ block: "nearest" });
  const cell = cursor.cells[table.classList.contains("split") && !cursor.cells[3].classList.contains("e") ? 3 : 0];
  const at = lineOf(cell);
  if (extend && chosen?.table === table && chosen.side === at.side) choose(table, at.side, chosen.from, at.line);
  else choose(table, at.side, at.line, at.line);
  say(`line ${at.line}${at.side === "old" ? " before" : ""}: ${cursor.cells[cell.cellIndex + (table.classList.contains("unified") ? 3 : table.classList.contains("split") ? 2 : 1)].textContent}`);
}

function firstSeen(rows) {
  return Math.max(0, rows.findIndex((row) => row.getBoundingClientRect().top > 100));
}

/* Writing comments */

class Editor {
  // at is {file, side, start, end}; remark is the draft that is edited, if any.
  constructor(at, remark) {
    this.at = at;
    this.remark = remark;
    this.id = remark?.dataset.id;
    this.before = remark?.dataset.source ?? "";
    this.saved = this.before;
    this.form = $("#editor").content.firstElementChild.cloneNode(true);
    this.form.editor = this;
    this.area = $("textarea", this.form);
    this.area.value = this.before;
    this.weight = $("select", this.form);
    this.status = $('[role="status"]', this.form);
    $(".where", this.form).textContent = this.where();
    if (remark) this.weight.closest("label").hidden = true;
    if (!at.start || remark) $('[data-do="suggest"]', this.form).hidden = !at.start;
    this.area.addEventListener("input", () => this.later());
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.close();
    });
  }

  where() {
    const { file, side, start, end } = this.at;
    if (!file) return "on the whole change";
    if (!start) return "on the file";
    return `on ${end > start ? `lines ${start}–${end}` : `line ${start}`}${side === "old" ? " before the change" : ""}`;
  }

  later() {
    clearTimeout(this.timer);
    this.status.textContent = "";
    this.timer = setTimeout(() => this.save(), 700);
  }

  // save keeps what is written as a draft; one save after the other.
  save() {
    clearTimeout(this.timer);
    this.saving = (this.saving ?? Promise.resolve()).then(() => this.store()).catch((err) => {
      this.status.textContent = `Not saved: ${err.message}`;
      throw err;
    });
    this.saving.catch(() => {});
    const done = this.saving;
    this.saving = this.saving.catch(() => {});
    return done;
  }

  async store() {
    const text = this.area.value;
    if (text === this.saved || !text.trim() || this.dropped) return;
    if (this.id) {
      await api("PUT", `/comments/${this.id}`, { comment: text });
    } else {
      const made = await api("POST", "", {
        file: this.at.file, side: this.at.side, startLine: this.at.start, endLine: this.at.end,
        comment: text, severity: this.weight.value,
      });
      this.id = made.id;
      this.weight.disabled = true;
      countPending(1);
    }
    this.saved = text;
    this.status.textContent = "Saved as a draft";
  }

  async close() {
    if (!this.area.value.trim()) return this.cancel();
    try {
      await this.save();
    } catch {
      return;
    }
    const fresh = (await part(`/review/${reviewID}/remark?comment=${this.id}`)).querySelector(".remark");
    this.remark?.remove();
    const holder = this.form.closest("td, .notes");
    this.form.replaceWith(fresh);
    holder?.closest("tr")?.classList.replace("writing", "notes");
    unchoose();
    say("Comment saved");
    fresh.focus();
  }

  // cancel puts everything back to how it was before the editor was opened.
  async cancel() {
    clearTimeout(this.timer);
    await this.saving;
    this.dropped = true;
    try {
      if (this.remark && this.saved !== this.before) await api("PUT", `/comments/${this.id}`, { comment: this.before });
      if (!this.remark && this.id) {
        await api("DELETE", `/comments/${this.id}`);
        countPending(-1);
      }
    } catch (err) {
      this.status.textContent = err.message;
      this.dropped = false;
      return;
    }
    if (this.remark) this.remark.hidden = false;
    const row = this.form.closest("tr");
    const table = this.form.closest("table");
    this.form.remove();
    if (row && !row.querySelector(".remark, .editor")) row.remove();
    unchoose();
    table?.focus({ preventScroll: true });
  }

  async preview(on) {
    const shown = $(".shown", this.form);
    for (const tab of $$('[role="tab"]', this.form)) tab.setAttribute("aria-selected", String((tab.dataset.do === "preview") === on));
    this.area.hidden = on;
    shown.hidden = !on;
    if (!on) return this.area.focus();
    const body = new URLSearchParams({
      form_token: token, comment: this.area.value, file: this.at.file, side: this.at.side, start: this.at.start, end: this.at.end,
    });
    try {
      const answer = await fetch(`/review/${reviewID}/preview?fragment=1`, { method: "POST", body });
      shown.replaceChildren(elements(await (await checked(answer)).text()));
    } catch (err) {
      shown.textContent = err.message;
    }
  }

  // suggest begins a suggestion with the lines as they are.
  suggest() {
    const table = this.form.closest("table");
    const lines = [];
    for (const row of table?.rows ?? []) {
      if (!isLine(row)) continue;
      const at = lineOf(cellOn(row, this.at.side));
      if (at.side !== this.at.side || at.line < this.at.start || at.line > this.at.end) continue;
      const code = $$(".code", row)[table.classList.contains("split") && at.side === "new" ? 1 : 0];
      const copy = code.cloneNode(true);
      for (const extra of $$(".noeol, .cut", copy)) extra.remove();
      lines.push(copy.textContent);
    }
    const lead = this.area.value && !this.area.value.endsWith("\n") ? "\n" : "";
    this.area.setRangeText(`${lead}\`\`\`suggestion\n${lines.join("\n")}\n\`\`\`\n`, this.area.value.length, this.area.value.length, "end");
    this.later();
    this.area.focus();
  }
}

function countPending(change) {
  const line = document.getElementById("pending");
  if (line) line.textContent = plural(Number.parseInt(line.textContent, 10) + change, "pending comment");
}

// write opens an editor behind the last of the chosen lines.
function write() {
  const { table, side, start, end, rows } = chosen;
  const section = table.closest(".file");
  const file = side === "old" ? (section.dataset.old ?? section.dataset.path) : section.dataset.path;
  const open = $$(".editor", table).find((form) => !form.editor.id && !form.editor.area.value);
  const editor = new Editor({ file, side, start, end });
  if (open) dropForm(open);
  const last = rows.at(-1);
  let row = last.nextElementSibling;
  if (!row?.matches(".notes, .writing")) {
    row = document.createElement("tr");
    row.className = "writing notes";
    const cell = row.insertCell();
    cell.colSpan = [...last.cells].length;
    last.after(row);
  }
  row.cells[0].append(editor.form);
  editor.area.focus();
}

function dropForm(form) {
  const row = form.closest("tr");
  form.remove();
  if (row && !row.querySelector(".remark, .editor")) row.remove();
}

function writeOn(section) {
  let notes = $(".fb > .notes", section);
  if (!notes) {
    notes = document.createElement("div");
    notes.className = "notes";
    $(".fb", section).prepend(notes);
  }
  openIn(notes, { file: section.dataset.path, side: section.dataset.side ?? "new", start: 0, end: 0 });
}

function openIn(notes, at) {
  const open = $(".editor", notes);
  if (open) return open.editor.area.focus();
  const editor = new Editor(at);
  notes.append(editor.form);
  editor.area.focus();
}

function editRemark(remark) {
  const d = remark.dataset;
  const editor = new Editor({ file: d.file, side: d.side, start: Number(d.start), end: Number(d.end) }, remark);
  remark.after(editor.form);
  remark.hidden = true;
  editor.area.focus();
}

async function deleteRemark(remark) {
  const d = remark.dataset;
  await api("DELETE", `/comments/${d.id}`);
  countPending(-1);
  const line = document.createElement("p");
  line.className = "load";
  line.textContent = "Deleted. ";
  const undo = document.createElement("button");
  undo.className = "link";
  undo.type = "button";
  undo.textContent = "Undo";
  undo.addEventListener("click", async () => {
    const made = await api("POST", "", {
      file: d.file, side: d.side, startLine: Number(d.start), endLine: Number(d.end), comment: d.source, severity: d.severity ?? "",
    });
    countPending(1);
    line.replaceWith((await part(`/review/${reviewID}/remark?comment=${made.id}`)).querySelector(".remark"));
  });
  line.append(undo);
  remark.replaceWith(line);
  undo.focus();
}

/* Files viewed */

async function toggleViewed(section) {
  const button = $(".seen", section);
  if (!button) return;
  const viewed = button.getAttribute("aria-pressed") !== "true";
  await api("PUT", "/viewed", { file: section.dataset.path, viewed });
  button.setAttribute("aria-pressed", String(viewed));
  section.classList.toggle("viewed", viewed);
  section.classList.remove("open");
  $(`.tree a[href="#${section.id}"]`)?.classList.toggle("viewed", viewed);
  const progress = document.getElementById("progress");
  if (progress) progress.textContent = `${Number.parseInt(progress.textContent, 10) + (viewed ? 1 : -1)} viewed`;
  say(viewed ? "viewed" : "not viewed");
  if (viewed && section.getBoundingClientRect().top < 44) section.scrollIntoView();
  if (!viewed) load(section);
}

/* Moving about */

function currentFile() {
  const inside = document.activeElement?.closest?.(".file");
  const seen = (section) => {
    const box = section.getBoundingClientRect();
    return box.bottom > 100 && box.top < innerHeight;
  };
  if (inside && seen(inside)) return inside;
  return $$(".file").find(seen);
}

function goFile(step) {
  const files = $$(".file");
  const top = (section) => section.getBoundingClientRect().top;
  const next = step > 0 ? files.find((f) => top(f) > 60) : files.findLast((f) => top(f) < 50);
  if (!next) return;
  next.scrollIntoView();
  $(".path, h1", next)?.focus({ preventScroll: true });
}

function goRemark(step) {
  const remarks = $$(".remark").filter((r) => !r.hidden);
  const at = remarks.indexOf(document.activeElement?.closest?.(".remark"));
  let next = remarks[at + step];
  if (at < 0) {
    const top = (r) => r.getBoundingClientRect().top;
    next = step > 0 ? remarks.find((r) => top(r) > 100) : remarks.findLast((r) => top(r) < 80);
  }
  next?.scrollIntoView({ block: "center" });
  next?.focus({ preventScroll: true });
}

function switchView(to) {
  remember("view", to);
  const at = new URL(location.href);
  at.searchParams.delete("view");
  at.searchParams.delete("sent");
  const file = currentFile();
  at.hash = file && file.getBoundingClientRect().top < innerHeight / 2 && scrollY > 200 ? file.id : "";
  if (at.href === location.href) location.reload();
  else {
    location.assign(at);
    if (at.pathname + at.search === location.pathname + location.search) location.reload();
  }
}

async function jump(link) {
  const id = decodeURIComponent(new URL(link.href).hash.slice(1));
  let target = document.getElementById(id);
  const section = document.getElementById(link.dataset.file);
  if (section && toLoad(section)) {
    await load(section);
    target = document.getElementById(id);
  }
  if (!target) return location.assign(link.href);
  target.closest(".file")?.classList.add("open");
  history.replaceState(null, "", `#${encodeURIComponent(id)}`);
  target.scrollIntoView({ block: "center" });
  target.focus({ preventScroll: true });
}

/* What a click does */

const doing = {
  theme() {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    remember("theme", root.dataset.theme);
  },
  help() {
    document.getElementById("help").showModal();
  },
  async copy(button) {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      say("Copied");
      button.classList.add("done");
      setTimeout(() => button.classList.remove("done"), 1500);
    } catch {
      getSelection().selectAllChildren(code);
    }
  },
  load(link) {
    return load(link.closest(".file"), link.href);
  },
  more,
  jump,
  unified() {
    switchView("unified");
  },
  split() {
    switchView("split");
  },
  "comment-file"(link) {
    writeOn(link.closest(".file"));
  },
  "comment-all"() {
    const notes = document.getElementById("general");
    $(".finish details").open = false;
    openIn(notes, { file: "", side: "new", start: 0, end: 0 });
    notes.scrollIntoView({ block: "center" });
  },
  viewed(button) {
    return toggleViewed(button.closest(".file"));
  },
  edit(link) {
    editRemark(link.closest(".remark"));
  },
  delete(button) {
    return deleteRemark(button.closest(".remark"));
  },
  write: (tab) => tab.closest(".editor").editor.preview(false),
  preview: (tab) => tab.closest(".editor").editor.preview(true),
  suggest: (button) => button.closest(".editor").editor.suggest(),
  cancel: (button) => button.closest(".editor").editor.cancel(),
};

// drafting are the actions that need a review that is open for comments.
const drafting = "[data-do='comment-file'], [data-do='comment-all'], [data-do='viewed'], [data-do='edit'], [data-do='delete']";

function complain(err) {
  say(err.message);
  news.textContent = err.message;
}

document.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const number = reviewID && event.target.closest("td.ln");
  if (number) return chooseByClick(number, event.shiftKey);
  const target = event.target.closest("[data-do]");
  if (!reviewID && target?.matches(drafting)) return;
  if (!target || (event.shiftKey && target.matches("a"))) return;
  event.preventDefault();
  Promise.resolve(doing[target.dataset.do]?.(target)).catch(complain);
});

function chooseByClick(cell, extend) {
  const at = lineOf(cell);
  const table = cell.closest("table");
  if (!at.line) return;
  if (extend) getSelection().removeAllRanges();
  if (extend && chosen?.table === table && chosen.side === at.side) choose(table, at.side, chosen.from, at.line);
  else choose(table, at.side, at.line, at.line);
  write();
}

/* Keys */

const keys = {
  j: () => goFile(1),
  k: () => goFile(-1),
  n: () => goRemark(1),
  p: () => goRemark(-1),
  s: () => $('.views [data-do="split"]') && switchView(splitNow() ? "unified" : "split"),
  c() {
    if (!reviewID) return;
    if (chosen) return write();
    const file = currentFile();
    if (file) writeOn(file);
  },
  v() {
    const file = reviewID && currentFile();
    if (!file) return;
    $(".path", file).focus({ preventScroll: true });
    toggleViewed(file).catch(complain);
  },
  r() {
    const details = $(".finish details");
    if (!details) return;
    details.open = true;
    $("#message").focus();
  },
  "?": () => doing.help(),
};

document.addEventListener("keydown", (event) => {
  const writing = event.target.closest?.("textarea, input, select");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const form = event.target.closest?.(".editor, .finish");
    if (form) {
      event.preventDefault();
      form.requestSubmit();
    }
    return;
  }
  if (event.key === "Escape") return escape(event);
  if (writing || event.ctrlKey || event.metaKey || event.altKey || $("dialog[open]")) return;
  const table = event.target.closest?.(".diff");
  if (table && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    return moveCursor(table, event.key === "ArrowDown" ? 1 : -1, event.shiftKey);
  }
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

function escape(event) {
  const form = event.target.closest?.(".editor");
  if (form) {
    event.preventDefault();
    if (form.editor.area.value === form.editor.before || !form.editor.area.value.trim()) form.editor.cancel();
    else form.editor.close();
    return;
  }
  unchoose();
  const details = $(".finish details[open]");
  if (details) {
    details.open = false;
    $("summary", details).focus();
  }
}

/* The message, and leaving */

const message = document.getElementById("message");
let messageTimer = 0;
let messageSaved = message?.value;

async function saveMessage() {
  clearTimeout(messageTimer);
  if (!message || message.value === messageSaved) return;
  const text = message.value;
  const line = document.getElementById("saved");
  try {
    await api("PUT", "/message", { message: text });
    messageSaved = text;
    line.textContent = "Saved as a draft";
  } catch (err) {
    line.textContent = `Not saved: ${err.message}`;
  }
}

message?.addEventListener("input", () => {
  clearTimeout(messageTimer);
  document.getElementById("saved").textContent = "";
  messageTimer = setTimeout(saveMessage, 700);
});

const finish = document.getElementById("finish");

finish?.addEventListener("submit", async (event) => {
  const open = $$(".editor").filter((form) => form.editor.area.value !== form.editor.saved);
  if (!open.length || finish.dataset.flushed) return;
  event.preventDefault();
  try {
    await Promise.all(open.map((form) => form.editor.save()));
    finish.dataset.flushed = "1";
    finish.requestSubmit();
  } catch (err) {
    document.getElementById("saved").textContent = `Not submitted: ${err.message}`;
  }
});

addEventListener("pagehide", () => {
  for (const form of $$(".editor")) form.editor.save().catch(() => {});
  saveMessage();
});

// Only one form is sent once: a second click does nothing.
document.addEventListener("submit", (event) => {
  if (event.defaultPrevented || event.target.method !== "post") return;
  for (const button of $$("button", event.target)) setTimeout(() => (button.disabled = true));
});

/* The list of files */

document.getElementById("filter")?.addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  for (const item of $$(".tree li")) {
    const link = $("a", item);
    item.hidden = wanted !== "" && !(link && link.title.toLowerCase().includes(wanted));
  }
});

const here = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      const link = $(`.tree a[href="#${entry.target.id}"]`);
      link?.classList.toggle("here", entry.isIntersecting);
      if (entry.isIntersecting) keepInSight(link);
    }
  },
  { rootMargin: "-60px 0px -85% 0px" },
);

function keepInSight(link) {
  const tree = $(".tree");
  if (!link || getComputedStyle(tree).position !== "sticky") return;
  const box = link.getBoundingClientRect();
  const frame = tree.getBoundingClientRect();
  if (box.top < frame.top || box.bottom > frame.bottom) tree.scrollTop += box.top - frame.top - frame.height / 3;
}

function watchFiles() {
  for (const section of $$(".file[data-lazy]")) nearby.observe(section);
  if ($(".tree")) for (const section of $$(".file")) here.observe(section);
}

/* Live updates */

let live = null;
let missed = false;

function listen() {
  live = new EventSource("/api/events");
  for (const name of ["review_submissions_changed", "run_changed"]) {
    live.addEventListener(name, (event) => {
      const { ids } = JSON.parse(event.data);
      if (!ids || watched === "*" || ids.includes(watched)) changed();
    });
  }
}

let changing = 0;

function changed() {
  clearTimeout(changing);
  changing = setTimeout(watched === "*" ? refreshList : offerReload, 300);
}

function offerReload() {
  news.replaceChildren("This page has news. ");
  const link = document.createElement("a");
  link.href = location.pathname + location.search;
  link.textContent = "Load it again";
  news.append(link);
}

// refreshList brings a list up to date where the reader is not in the middle of it.
async function refreshList() {
  const now = $("#main > .narrow");
  if (now.contains(document.activeElement)) return offerReload();
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("#main > .narrow");
  if (fresh) now.replaceWith(document.adoptNode(fresh));
}

// A hidden page gives its connection back: browsers have few for one server.
document.addEventListener("visibilitychange", () => {
  if (!watched) return;
  if (document.hidden) {
    live?.close();
    missed = true;
    return;
  }
  listen();
  if (missed && watched === "*") refreshList();
});

/* Begin */

watchFiles();
if (watched && !document.hidden) listen();
if (location.hash && !document.getElementById(decodeURIComponent(location.hash.slice(1)))) {
  const link = $$('[data-do="jump"]').find((a) => new URL(a.href).hash === location.hash);
  if (link) jump(link);
}
if ($(".sent")) history.replaceState(null, "", location.pathname);
