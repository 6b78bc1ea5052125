
/* What is written is kept in the browser until the server has it */

// Each tab keeps under a name of its own, and holds a lock of that name while it lives. Whoever gets the lock of
// another tab knows that it is gone, and takes over what it kept: at once, or when the tab ends.

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

// joined is what a text becomes where it was changed here and elsewhere: the server joins them in the same way.
function joined(there, was, text) {
  if (there.trim() === was.trim() || text.includes(there.trim())) return text;
  return there.includes(text.trim()) ? there : `${there}\n\n${text}`;
}

// tabOf is the tab that kept something under a name, undefined where the name is of something else.
function tabOf(name) {
  if (!commented || !(name?.startsWith(keptPrefix) || name?.startsWith(messagePrefix))) return undefined;
  return name.slice(name.startsWith(keptPrefix) ? keptPrefix.length : messagePrefix.length + 1).split(" ")[0];
}

// restoreDrafts opens again what a page that ended early had not got to the server.
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

// takeOver makes what a tab kept this one's own before it is forgotten. Whoever writes here is not moved from there.
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

// showDraft shows a draft of another tab as it is now, at its lines; one that is being written here is left.
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

// placeRemark puts what came at its lines of a file; a file that is not here yet brings it itself.
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

// rowsOf are the first and the last row of a file that a comment is on; none where the diff does not show them.
function rowsOf(section, at) {
  return section && at.start ? linesOf(section).filter((row) => {
    const line = lineOf(cellOn(row, at.side));
    return line.side === at.side && (line.line === at.start || line.line === at.end);
  }) : [];
}

// openAt opens an editor on lines, on a file, or on the whole change where those are gone.
async function openAt(at) {
  const section = fileOf(at.file);
  if (section && toLoad(section)) await load(section);
  if (section && !at.start) return writeOn(section);
  const rows = rowsOf(section, at);
  if (!rows.length) return openIn(document.getElementById("general") ?? notesOn(section ?? $(".file")), at);
  choose(at.side, rows[0], rows.at(-1));
  return write();
}

/* A server that is away */

let away = 0;

function serverAway() {
  if (away) return;
  news.replaceChildren("The server is away. What you write is kept here. To start it again, type in the repository: ");
  const command = document.createElement("code");
  command.textContent = "git runr serve";
  news.append(command);
  away = setInterval(async () => {
    const answer = await fetch("/api/health").catch(() => null);
    if (!answer?.ok) return;
    clearInterval(away);
    away = 0;
    announce("The server is back.");
    for (const form of $$(".editor")) form.editor.save().catch(() => {});
    saveMessage().catch(() => {});
    if (live) listen();
  }, 1000);
}
