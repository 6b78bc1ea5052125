
/* Keys */

const fileKeys = {
  j: () => goFile(1),
  k: () => goFile(-1),
  n: () => goRemark(1),
  p: () => goRemark(-1),
  C: () => panel && toggleThreads(),
  "]": () => goChange(1),
  "[": () => goChange(-1),
  x: () => currentFile() && fold(currentFile()),
  s: () => $('.views [data-do="split"]') && showAs("view", splitNow() ? "unified" : "split"),
  W: () => showAs("space", root.dataset.space ? "" : "ignore"),
  c() {
    if (!commented) return;
    if (!cursor?.isConnected) {
      cursorTo(firstSeen());
      return complain(new Error("No line was selected. The cursor is now on the first visible line: press c again to comment there."));
    }
    if (cursor.tagName !== "TR") return writeOn(cursor.closest(".file"));
    if (!chosen?.from.isConnected) choose(lineOf(cellOn(cursor, preferred)).side, cursor, cursor);
    return write();
  },
  v: () => currentFile() && toggleViewed(currentFile()),
  async V() {
    const file = currentFile();
    if (!file) return;
    await toggleViewed(file, true);
    cursorTo($(".fh", file), { block: null });
    return goFile(1);
  },
  e: () => document.activeElement.closest?.(".remark.draft") && editRemark(document.activeElement.closest(".remark")),
  E: () => currentFile() && expand(currentFile()),
  m: () => currentFile() && $(".look", currentFile())?.click(),
  b: () => currentFile() && $(".blame", currentFile())?.click(),
  y: () => $("[data-do=copy-agent]") && copyForAgent(document.activeElement?.closest?.(".remark")?.dataset.id),
  r() {
    const details = $("#finish details");
    if (!details) return;
    details.open = true;
    $("#message").focus();
  },
  ArrowDown: (event) => move(1, event.shiftKey),
  ArrowUp: (event) => move(-1, event.shiftKey),
  ArrowLeft: () => toSide("old"),
  ArrowRight: () => toSide("new"),
};

const listKeys = {
  j: () => goItem(1),
  k: () => goItem(-1),
  ArrowDown: () => goItem(1),
  ArrowUp: () => goItem(-1),
};

listKeys.x = () => document.activeElement.closest?.("li")?.querySelector("input")?.click();

const everywhere = {
  "?": () => doing.help(),
  "/": () => $("#filter, #search")?.focus(),
};

// goItem moves the focus to the next or the previous row of a list. Enter opens the row.
function goItem(step) {
  const items = $$(".list .title");
  const at = items.indexOf(document.activeElement?.closest?.("li")?.querySelector(".title"));
  const next = at < 0 ? items.at(step > 0 ? 0 : -1) : items[at + step];
  next?.focus();
  next?.closest("li").scrollIntoView({ block: "nearest" });
}

// takesKeys reports whether an element has its own use for a key.
function takesKeys(element, key) {
  if (!element?.closest) return false;
  if (element.closest("textarea, select, input:not([type=checkbox], [type=radio])")) return true;
  return key.startsWith("Arrow") && Boolean(element.closest("input:not([type=checkbox]), [role=tab], .log, .pop, .panel, dialog, .threads"));
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const form = event.target.closest?.(".editor, .finish");
    if (form) {
      event.preventDefault();
      form.requestSubmit();
    }
    return;
  }
  if (event.key === "Escape") return escape(event);
  if (takesKeys(event.target, event.key) || event.ctrlKey || event.metaKey || event.altKey || $("dialog[open]")) return;
  const keys = $(".file") ? fileKeys : $(".list") ? listKeys : {};
  const act = keys[event.key] ?? everywhere[event.key];
  if (!act) return;
  event.preventDefault();
  Promise.resolve(act(event)).catch(complain);
});

// escape closes what is open, innermost first, and gives the focus back.
function escape(event) {
  const form = event.target.closest?.(".editor");
  if (form) {
    event.preventDefault();
    if (form.editor.area.value === form.editor.before || !form.editor.area.value.trim()) form.editor.cancel();
    else form.editor.close();
    return;
  }
  if (event.target.closest?.("#threads")) return toggleThreads();
  const open = event.target.closest?.("details[open]:has(> .pop, > .panel)") ?? $("details[open]:has(> .pop, > .panel)");
  if (open) {
    open.open = false;
    if (cursor?.isConnected) cursorTo(cursor, { block: null });
    else $("summary", open).focus();
    return;
  }
  if (event.target.matches?.("input[type=search]")) return cursor?.isConnected ? cursorTo(cursor) : event.target.blur();
  unchoose();
}

// A click elsewhere closes open menus.
document.addEventListener("click", (event) => {
  for (const open of $$("details[open]:has(> .pop, > .panel)")) {
    if (!open.contains(event.target) && !open.closest(".about:has(+ .state + .notes + .empty)")) open.open = false;
  }
});
