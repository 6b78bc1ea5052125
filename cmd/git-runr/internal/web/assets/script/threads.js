
/* The panel of comments */

const panel = document.getElementById("threads");
const panelOpen = () => Boolean(panel && !panel.hidden);

// fillThreads loads the list of comments for the chosen filter.
async function fillThreads(url = panel.dataset.at ?? `/review/${watched}/comments`) {
  const at = $(".thread[aria-current]", panel)?.dataset.thread;
  const fresh = await part(url);
  const held = panel.contains(document.activeElement);
  panel.dataset.at = url;
  panel.replaceChildren(...fresh.childNodes);
  markThread(at);
  if (held) $('[data-do="show-threads"][aria-current]', panel).focus();
}

// toggleThreads opens the panel, or closes it and restores the focus.
async function toggleThreads() {
  if (!panel) return location.assign(`/review/${watched}`);
  const open = panel.hidden;
  if (open) await fillThreads();
  panel.hidden = !open;
  $(".review").classList.toggle("talking", open);
  $(".talked").setAttribute("aria-expanded", String(open));
  if (open) sessionStorage.setItem("runr-threads", watched);
  else sessionStorage.removeItem("runr-threads");
  if (!open && cursor?.isConnected) cursorTo(cursor, { block: null });
  else if (!open) $(".talked").focus();
  else markThread(document.activeElement?.closest?.(".remark")?.dataset.id ?? $(".thread", panel)?.dataset.thread, true);
}

// markThread marks the current comment of the panel.
function markThread(id, focus = false) {
  const thread = id && panel && $$(".thread", panel).find((t) => t.dataset.thread === id);
  $(".thread[aria-current]", panel ?? document)?.removeAttribute("aria-current");
  if (!thread) return;
  thread.setAttribute("aria-current", "true");
  const [box, frame] = [thread.getBoundingClientRect(), panel.getBoundingClientRect()];
  if (box.top < frame.top + 70 || box.bottom > frame.bottom) panel.scrollTop += box.top - frame.top - 80;
  if (focus) thread.focus({ preventScroll: true });
}

// goThread moves the cursor to the next or the previous comment of the panel, in any file.
async function goThread(step) {
  const all = $$(".thread", panel);
  const at = all.findIndex((t) => t.hasAttribute("aria-current"));
  const next = at < 0 ? all.at(step > 0 ? 0 : -1) : all[at + step];
  if (!next) return;
  markThread(next.dataset.thread);
  await jump($('[data-do="jump"]', next));
}

// findThread goes to a comment in a file that is not loaded yet.
async function findThread(id) {
  const all = await part(`/review/${watched}/comments?show=all`);
  const link = $$('[data-do="jump"]', all).find((a) => new URL(a.href, location.href).hash === `#${id}`);
  if (link) await jump(link);
}

const threadsChanged = () => panelOpen() && fillThreads().catch(complain);

// sendNow sends the form of a comment without leaving the page, and shows the result beside the comment.
async function sendNow(form) {
  const place = form.closest(".thread, .remark, .whole, .talk");
  const id = form.elements.finding.value.split(".")[0];
  const writing = document.activeElement;
  for (const old of $$(".refused", place)) old.remove();
  for (const button of $$("button", form)) button.disabled = true;
  try {
    const answer = await asked(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)), redirect: "manual" });
    if (answer.type !== "opaqueredirect") return refusedNow(form, await answer.text());
    const fresh = id && (await part(`/review/${watched}/remark?comment=${id}`)).querySelector(".remark");
    if (id) document.getElementById(id)?.replaceWith(fresh);
    else form.reset();
    if (form.contains(writing)) writing.blur();
    await (panelOpen() ? fillThreads() : null);
    if (!id) await refreshHead();
    else if (place.matches(".remark")) fresh.focus({ preventScroll: true });
    else markThread(id, true);
    announce(form.dataset.done);
  } finally {
    for (const button of $$("button", form)) button.disabled = false;
  }
}

// refusedNow shows the reason why a form was refused, and what to type, from the page of the error.
function refusedNow(form, html) {
  const doc = new DOMParser().parseFromString(html, "text/html");
  const box = document.createElement("div");
  box.className = "refused";
  box.setAttribute("role", "alert");
  box.append(...$$("main p:not(:has(a))", doc).map((p) => document.adoptNode(p)));
  form.after(box);
}

if (panel) {
  document.addEventListener("submit", (event) => {
    if (!event.target.matches(".at-once")) return;
    event.preventDefault();
    sendNow(event.target).catch(complain);
  }, true);
}
