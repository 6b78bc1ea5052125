
/* What is written is kept in the browser until the server has it */

// Each tab keeps under a name of its own, and holds a lock of that name while it lives: what a tab that is
// gone left is taken over, what is being written in another one is left alone.

const keptPrefix = `runr-draft ${reviewID} `;
const messagePrefix = `runr-message ${reviewID}`;
const tab = crypto.randomUUID();
const messageKey = `${messagePrefix} ${tab}`;
navigator.locks?.request(`runr-tab ${tab}`, () => new Promise(() => {}));

function keepDraft(key, at, id, text) {
  localStorage.setItem(`${keptPrefix}${tab} ${key}`, JSON.stringify({ ...at, id, text }));
}

function forgetDraft(key) {
  localStorage.removeItem(`${keptPrefix}${tab} ${key}`);
}

// left are the names under which tabs that are gone kept something.
async function left(prefix) {
  const { held = [] } = (await navigator.locks?.query()) ?? {};
  const alive = held.map((lock) => lock.name.replace("runr-tab ", ""));
  return Object.keys(localStorage).filter((name) => name.startsWith(prefix) && !alive.some((other) => name.includes(other)));
}

// restoreDrafts opens again what a page that ended early had not got to the server.
async function restoreDrafts() {
  if (!reviewID) return;
  for (const key of await left(keptPrefix)) {
    const { id, text, ...at } = JSON.parse(localStorage.getItem(key));
    const known = id && $(`.remark.draft[data-id="${id}"]`);
    const there = $$(".remark.draft").some(({ dataset: d }) => d.source.trim() === text.trim() && d.file === at.file && Number(d.start) === at.start);
    localStorage.removeItem(key);
    if (there || !text.trim()) continue;
    const form = known ? editRemark(known) : await openAt(at);
    form.area.value = text;
    form.later();
  }
  for (const key of await left(messagePrefix)) {
    const kept = localStorage.getItem(key);
    if (message && kept !== message.value) {
      localStorage.setItem(messageKey, kept);
      message.value = kept;
    }
    localStorage.removeItem(key);
    await saveMessage();
  }
}

// openAt opens an editor on lines, on a file, or on the whole change where those are gone.
async function openAt(at) {
  const section = $$(".file").find((f) => [f.dataset.path, f.dataset.old].includes(at.file));
  if (section && toLoad(section)) await load(section);
  if (section && !at.start) return writeOn(section);
  const rows = section ? linesOf(section).filter((row) => {
    const line = lineOf(cellOn(row, at.side));
    return line.side === at.side && (line.line === at.start || line.line === at.end);
  }) : [];
  if (!rows.length) return openIn(document.getElementById("general"), at);
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
