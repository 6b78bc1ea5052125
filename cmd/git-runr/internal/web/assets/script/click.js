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
  "copy-agent": (button) => copyForAgent(button.closest(".remark")?.dataset.id),
  async gap(button) {
    const rows = await openGap(button.closest("tr"), button.dataset.way);
    if (!document.activeElement || document.activeElement === document.body) cursorTo(rows[0], { block: null });
  },
  expand: (link) => expand(link.closest(".file")),
  "expand-all": expandAll,
  load(link) {
    return load(link.closest(".file"), link.href);
  },
  more,
  async jump(link) {
    markThread(link.closest(".thread")?.dataset.thread);
    await jump(link);
    if (panelOpen() && matchMedia("(max-width: 900px)").matches) await toggleThreads();
  },
  threads: toggleThreads,
  "show-threads": (link) => (panel ? fillThreads(link.href) : location.assign(link.href)),
  unified() {
    showAs("view", "unified");
  },
  split() {
    showAs("view", "split");
  },
  images: (button) => showImages(button.dataset.value),
  "show-space": () => showAs("space", ""),
  "comment-file"(link) {
    writeOn(link.closest(".file"));
  },
  "comment-all"() {
    const notes = document.getElementById("general");
    $("#finish details").open = false;
    openIn(notes, { file: "", side: "new", start: 0, end: 0 });
    notes.scrollIntoView({ block: "center" });
  },
  viewed(button) {
    return toggleViewed(button.closest(".file"));
  },
  async "first-line"() {
    const [first] = shownFiles();
    if (first.hasAttribute("data-lazy")) await load(first);
    cursorTo(stopsOf(first)[1] ?? stopsOf(first)[0], { block: "center" });
  },
  fold(button) {
    return fold(button.closest(".file"));
  },
  "tree-viewed": (box) => toggleViewed(document.getElementById(box.nextElementSibling.hash.slice(1))),
  go(link) {
    return goTo(document.getElementById(new URL(link.href).hash.slice(1)));
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

// drafting lists the actions that require a review that is open for comments.
const drafting = "[data-do='comment-file'], [data-do='comment-all'], [data-do='viewed'], [data-do='edit'], [data-do='delete']";

function complain(err) {
  say(err.message);
  news.textContent = err.message;
}

document.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const number = commented && event.target.closest("td.ln");
  if (number) return chooseByClick(number, event.shiftKey);
  const code = event.target.closest(".diff td.code, .diff td.mk");
  if (code && !event.target.closest("a, button, summary")) return cursorByClick(code);
  const target = event.target.closest("[data-do]");
  if (!reviewID && target?.matches(drafting)) return;
  if (!target || (event.shiftKey && target.matches("a"))) return;
  event.preventDefault();
  Promise.resolve(doing[target.dataset.do]?.(target)).catch(complain);
});

// A setting takes effect at once, and is stored in a cookie.
document.addEventListener("change", (event) => {
  const { setting } = event.target.dataset;
  if (!setting) return;
  if (setting === "space") return showAs(setting, event.target.value);
  remember(setting, event.target.value);
  if (event.target.value) root.dataset[setting] = event.target.value;
  else delete root.dataset[setting];
});
