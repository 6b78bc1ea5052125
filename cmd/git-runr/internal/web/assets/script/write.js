/* Writing comments */

class Editor {
  // at is {file, side, start, end}; remark is the draft that is edited, if any.
  constructor(at, remark) {
    this.at = at;
    this.remark = remark;
    this.id = remark?.dataset.id ?? `c-${crypto.randomUUID().replaceAll("-", "").slice(-10)}`;
    this.recorded = Boolean(remark); // whether the server has confirmed the draft
    this.before = remark?.dataset.source ?? "";
    this.saved = this.before;
    this.sent = ""; // the text of the first request, until the server confirms it
    this.form = $("#editor").content.firstElementChild.cloneNode(true);
    this.form.editor = this;
    this.area = $("textarea", this.form);
    this.area.value = this.before;
    this.weight = $("select", this.form);
    this.status = $('[role="status"]', this.form);
    $(".where", this.form).textContent = this.where();
    if (remark) this.weight.closest("label").hidden = true;
    if (!at.start || remark) $('[data-do="suggest"]', this.form).hidden = !at.start;
    this.key = crypto.randomUUID();
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

  open() {
    this.area.focus({ preventScroll: true });
    this.form.scrollIntoView({ block: "nearest" });
    return this;
  }

  later() {
    clearTimeout(this.timer);
    keepDraft(this.key, this.at, this.id, this.area.value, this.recorded ? this.saved : this.sent);
    this.status.textContent = "";
    this.timer = setTimeout(() => this.save(), 700);
  }

  // save saves the text as a draft. Saves run one after the other.
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
    if (this.dropped || !text.trim()) return;
    if (text === this.saved) return forgetDraft(this.key);
    if (this.recorded) {
      const { comments } = await api("PUT", `/comments/${this.id}`, { comment: text, was: this.saved });
      const now = comments.find((c) => c.id === this.id).comment;
      if (this.area.value === text) this.area.value = now;
      this.saved = now;
    } else {
      const made = await api("POST", "", {
        id: this.id, was: this.sent, file: this.at.file, side: this.at.side, startLine: this.at.start, endLine: this.at.end,
        comment: (this.sent = text), severity: this.weight.value,
      });
      if (this.area.value === text) this.area.value = made.comment;
      this.made(made.id);
      this.saved = made.comment;
    }
    if (this.area.value === this.saved) forgetDraft(this.key);
    tellTabs({ id: this.id });
    this.status.textContent = "Saved as a draft";
  }

  made(id) {
    this.id = id;
    this.recorded = true;
    this.weight.disabled = true;
    countPending(1);
  }

  async close() {
    if (!this.area.value.trim()) return this.cancel();
    try {
      await this.save();
    } catch {
      return;
    }
    const fresh = (await this.shown()).querySelector(".remark");
    this.remark?.remove();
    const holder = this.form.closest("td, .notes");
    this.form.replaceWith(fresh);
    holder?.closest("tr")?.classList.replace("writing", "notes");
    unchoose();
    const section = fresh.closest(".file");
    if (section) tint(section);
    countIn(section, this.remark ? 0 : 1);
    say("Comment saved");
    showRemark(fresh);
  }

  // shown is the saved comment as the page shows it.
  shown() {
    return part(`/review/${reviewID}/remark?comment=${this.id}`);
  }

  // cancel restores the state before the editor was opened.
  async cancel() {
    clearTimeout(this.timer);
    await this.saving;
    this.dropped = true;
    forgetDraft(this.key);
    try {
      if (this.remark && this.saved !== this.before) await api("PUT", `/comments/${this.id}`, { comment: this.before });
      if (!this.remark && this.recorded) {
        await api("DELETE", `/comments/${this.id}`);
        countPending(-1);
      }
      if (this.recorded) tellTabs({ id: this.id });
    } catch (err) {
      this.status.textContent = err.message;
      this.dropped = false;
      return;
    }
    if (this.remark) this.remark.hidden = false;
    dropForm(this.form);
    if (this.remark) this.remark.focus();
    else cursorTo(cursor?.isConnected ? cursor : firstSeen(), { block: null });
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

  // suggest inserts a suggestion block with the present lines.
  suggest() {
    const lines = [];
    for (const row of linesOf(this.form.closest(".file"))) {
      const cell = cellOn(row, this.at.side);
      const at = lineOf(cell);
      if (at.side !== this.at.side || at.line < this.at.start || at.line > this.at.end) continue;
      const copy = codeOn(cell).cloneNode(true);
      for (const extra of $$(".noeol, .cut > summary", copy)) extra.remove();
      lines.push(copy.textContent);
    }
    const lead = this.area.value && !this.area.value.endsWith("\n") ? "\n" : "";
    this.area.setRangeText(`${lead}\`\`\`suggestion\n${lines.join("\n")}\n\`\`\`\n`, this.area.value.length, this.area.value.length, "end");
    this.later();
    this.area.focus();
  }
}

// RunEditor is for a comment on a run, which is no draft: it is recorded when it is saved, for the next attempt.
class RunEditor extends Editor {
  constructor(at) {
    super(at);
    this.weight.closest("label").hidden = true;
    $('[role="tablist"]', this.form).hidden = true;
  }

  later() {
    keepDraft(this.key, this.at, this.id, this.area.value, "");
    this.status.textContent = "";
  }

  close() {
    this.ended = true;
    return super.close();
  }

  async store() {
    if (!this.ended) return; // the page is left
    this.ended = false;
    const { run, from, to } = compared;
    const { file, side, start, end } = this.at;
    const body = new URLSearchParams({ form_token: token, from, to, file, side, start, end, comment: this.area.value });
    const answer = await asked(`/run/${run}/comment?fragment=1`, { method: "POST", body });
    this.answer = elements(await (await checked(answer)).text());
    forgetDraft(this.key);
  }

  shown() {
    return this.answer;
  }
}

const editorOn = (at) => (compared ? new RunEditor(at) : new Editor(at));

function countPending(change) {
  const line = document.getElementById("pending");
  if (!line) return;
  line.hidden = false;
  line.textContent = plural(Number.parseInt(line.textContent, 10) + change, "pending comment");
}

// write opens an editor below the last selected line.
function write() {
  const { table, side, start, end, rows } = chosen;
  const section = table.closest(".file");
  const file = side === "old" ? (section.dataset.old ?? section.dataset.path) : section.dataset.path;
  const open = $$(".editor", table).find((form) => !form.editor.recorded && !form.editor.area.value);
  const editor = editorOn({ file, side, start, end });
  if (open) dropForm(open);
  notesBehind(rows.at(-1)).append(editor.form);
  return editor.open();
}

// notesBehind returns the cell for comments below a line, and makes it if it does not exist.
function notesBehind(last) {
  let row = last.nextElementSibling;
  if (!row?.matches(".notes, .writing")) {
    row = document.createElement("tr");
    row.className = "writing notes";
    const cell = row.insertCell();
    cell.colSpan = [...last.cells].length;
    last.after(row);
  }
  return row.cells[0];
}

function dropForm(form) {
  const row = form.closest("tr");
  form.remove();
  if (row && !row.querySelector(".remark, .editor")) row.remove();
}

function writeOn(section) {
  return openIn(notesOn(section), { file: section.dataset.path, side: section.dataset.side ?? "new", start: 0, end: 0 });
}

// notesOn returns the place for comments on a whole file, and makes it if it does not exist.
function notesOn(section) {
  let notes = $(".fb > .notes", section);
  if (!notes) {
    notes = document.createElement("div");
    notes.className = "notes";
    $(".fb", section).prepend(notes);
  }
  return notes;
}

function openIn(notes, at) {
  const open = $(".editor", notes);
  if (open) return open.editor.open();
  const editor = editorOn(at);
  notes.append(editor.form);
  return editor.open();
}

function editRemark(remark) {
  const d = remark.dataset;
  const editor = new Editor({ file: d.file, side: d.side, start: Number(d.start), end: Number(d.end) }, remark);
  remark.after(editor.form);
  remark.hidden = true;
  return editor.open();
}

async function deleteRemark(remark) {
  const d = remark.dataset;
  const section = remark.closest(".file");
  await api("DELETE", `/comments/${d.id}`);
  countPending(-1);
  countIn(section, -1);
  tellTabs({ id: d.id });
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
    countIn(section, 1);
    tellTabs({ id: made.id });
    line.replaceWith((await part(`/review/${reviewID}/remark?comment=${made.id}`)).querySelector(".remark"));
  });
  line.append(undo);
  remark.replaceWith(line);
  undo.focus();
}

// countIn changes the number of comments beside a file's name in the list.
function countIn(section, change) {
  threadsChanged();
  const link = section && $(`.tree a[href="#${section.id}"]`);
  if (!link || !change) return;
  let badge = $(".n", link);
  if (!badge) {
    badge = document.createElement("span");
    badge.className = "n";
    $("bdi", link).after(badge);
  }
  const n = Number.parseInt(badge.textContent || 0, 10) + change;
  badge.textContent = n;
  badge.hidden = n < 1;
}
