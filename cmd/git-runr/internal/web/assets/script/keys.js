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

