
/* Text is kept in the browser until the server has it */

// Each tab stores its text under its own name, and holds a lock of that name while it is open. A tab that gets the lock
// of another tab knows that the other one is closed, and takes over its text: at once, or when it closes.

const keptPrefix = `runr-draft ${commented} `;
const messagePrefix = `runr-message ${reviewID}`;
const tab = crypto.randomUUID();
const messageKey = `${messagePrefix} ${tab}`;
const awaited = new Set([tab]);
const withLock = (name, act) => (navigator.locks ? navigator.locks.request(`runr-tab ${name}`, act) : act());
if (navigator.locks) withLock(tab, () => new Promise(() => {}));

function keepDraft(key, at, id, text, was) {
  localStorage.setItem(`${keptPrefix}${tab} ${key}`, JSON.stringify({ ...at, id, text, was }));
}

function forgetDraft(key) {
  localStorage.removeItem(`${keptPrefix}${tab} ${key}`);
}

// joined merges a text that was changed here and elsewhere, in the same way as the server does.
function joined(there, was, text) {
  if (there.trim() === was.trim() || text.includes(there.trim())) return text;
  return there.includes(text.trim()) ? there : `${there}\n\n${text}`;
}

// tabOf returns the tab that stored text under a name, or undefined if the name is of another kind.
function tabOf(name) {
  if (!commented || !(name?.startsWith(keptPrefix) || name?.startsWith(messagePrefix))) return undefined;
  return name.slice(name.startsWith(keptPrefix) ? keptPrefix.length : messagePrefix.length + 1).split(" ")[0];
}

// restoreDrafts reopens texts that a page could not send to the server before it closed.
function restoreDrafts() {
  return Promise.all(Object.keys(localStorage).map(awaitTab));
}

function awaitTab(name) {
  const other = tabOf(name);
  if (other === undefined || awaited.has(other)) return undefined;
  awaited.add(other);
  return withLock(other, () => takeOver(other)).finally(() => awaited.delete(other));
}

addEventListener("storage", (event) => event.newValue !== null && Promise.resolve(awaitTab(event.key)).catch(complain));

// takeOver stores another tab's text under this tab's name, then deletes the original. It does not move the focus of
// somebody who is writing here.
async function takeOver(other) {
  const focus = document.activeElement;
  for (const name of Object.keys(localStorage).filter((n) => tabOf(n) === other)) {
    const kept = localStorage.getItem(name);
    if (name.startsWith(messagePrefix)) takeMessage(kept);
    else await takeDraft(JSON.parse(kept));
    localStorage.removeItem(name);
  }
  if (focus?.matches("textarea, input") && focus.isConnected) focus.focus({ preventScroll: true });
}

async function takeDraft({ id, text, was, ...at }) {
  const known = $(`.remark.draft[data-id="${id}"]`);
  if (known?.dataset.source.trim() === text.trim() || !text.trim()) return;
  const form = known ? ($$(".editor").find((f) => f.editor.id === id)?.editor ?? editRemark(known)) : await openAt(at);
  if (!known && !form.recorded && !form.area.value) [form.id, form.sent] = [id, was];
  form.area.value = joined(form.area.value, was ?? form.before, text);
  form.later();
}

function takeMessage(kept) {
  if (!message) return;
  const [was, text] = kept.startsWith("[") ? JSON.parse(kept) : [message.value, kept];
  const all = joined(message.value, was, text);
  if (all === message.value) return;
  message.value = all;
  keepMessage();
}

/* Other tabs of this review */

const tabs = reviewID && new BroadcastChannel(`runr ${reviewID}`);
const tellTabs = (news) => tabs?.postMessage(news);

tabs?.addEventListener("message", ({ data }) => {
  if (data.id) showDraft(data.id).catch(complain);
  if (!message || data.message === undefined || message.value !== messageSaved) return;
  message.value = messageSaved = data.message;
});

// showDraft shows the present draft of another tab at its lines, unless somebody edits that draft here.
async function showDraft(id) {
  const { comments } = await api("GET", "");
  const now = $(`.remark.draft[data-id="${id}"]`);
  const section = now?.closest(".file");
  if ($$(".editor").some((form) => form.editor.id === id)) return;
  if (!comments.some((c) => c.id === id)) {
    if (!now) return;
    dropForm(now);
    countPending(-1);
    if (section) tint(section);
    return countIn(section, -1);
  }
  const fresh = (await part(`/review/${reviewID}/remark?comment=${id}`)).querySelector(".remark");
  if ($(`.remark.draft[data-id="${id}"]`)) return $(`.remark.draft[data-id="${id}"]`).replaceWith(fresh);
  countPending(1);
  placeRemark(fresh, fileOf(fresh.dataset.file));
}

// placeRemark puts a new remark at its lines. A file that is not loaded yet will contain the remark.
function placeRemark(fresh, section) {
  const { side, start, end } = fresh.dataset;
  countIn(section, 1);
  if (section && toLoad(section)) return;
  const rows = rowsOf(section, { side: side || "new", start: Number(start), end: Number(end) });
  if (rows.length) notesBehind(rows.at(-1)).append(fresh);
  else (section && !Number(start) ? notesOn(section) : document.getElementById("general")).append(fresh);
  if (section) tint(section);
}

const fileOf = (name) => $$(".file").find((f) => [f.dataset.path, f.dataset.old].includes(name));

// rowsOf returns the first and the last row of a comment in a file, or none if the diff does not show them.
function rowsOf(section, at) {
  return section && at.start ? linesOf(section).filter((row) => {
    const line = lineOf(cellOn(row, at.side));
    return line.side === at.side && (line.line === at.start || line.line === at.end);
  }) : [];
}

// openAt opens an editor on lines or on a file, or on the whole change if those are gone.
async function openAt(at) {
  const section = fileOf(at.file);
  if (section && toLoad(section)) await load(section);
  if (section && !at.start) return writeOn(section);
  const rows = rowsOf(section, at);
  if (!rows.length) return openIn(document.getElementById("general") ?? notesOn(section ?? $(".file")), at);
  choose(at.side, rows[0], rows.at(-1));
  return write();
}

/* A server that does not answer */

let away = 0;

function serverAway() {
  if (away) return;
  news.replaceChildren("The server does not answer. This browser keeps what you write. To start the server again, type in the repository: ");
  const command = document.createElement("code");
  command.textContent = "git runr serve";
  news.append(command);
  away = setInterval(async () => {
    const answer = await fetch("/api/health").catch(() => null);
    if (!answer?.ok) return;
    clearInterval(away);
    away = 0;
    announce("The server answers again.");
    for (const form of $$(".editor")) form.editor.save().catch(() => {});
    saveMessage().catch(() => {});
    if (live) listen();
  }, 1000);
}
