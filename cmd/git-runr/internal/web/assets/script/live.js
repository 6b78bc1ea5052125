/* Live updates */

let live = null;
let { state } = document.body.dataset; // what the page shows at least; the server tells what is newer

function listen() {
  live?.close();
  live = new EventSource(`/api/events?since=${state}`);
  live.addEventListener("error", async () => (await fetch("/api/health").catch(() => null)) ?? serverAway());
  for (const name of ["review_submissions_changed", "run_changed"]) {
    live.addEventListener(name, (event) => {
      state = event.lastEventId;
      const { ids } = JSON.parse(event.data);
      if (!ids || watched === "*" || ids.includes(watched)) changed();
    });
  }
}

let changing = 0;

function changed() {
  clearTimeout(changing);
  changing = setTimeout(watched === "*" ? refreshList : now ? refreshRun : reviewID ? refreshHead : offerReload, 300);
}

// showUnshared shows how many events the remote does not have yet.
function showUnshared(fresh) {
  const [now, then] = [document.getElementById("sync"), fresh.getElementById("sync")];
  if (then && !now.contains(document.activeElement)) now.replaceWith(document.adoptNode(then));
}

// refreshHead updates what is above the change, and the messages. It does not replace a part that has the focus or
// typed text; for the messages it offers to reload instead.
async function refreshHead() {
  const answer = await fetch(location.pathname).catch(() => null);
  if (!answer?.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  showUnshared(fresh);
  for (const part of [".head > .pill", ".head > .actions", ".head > .verdict", ".about > .handed", ".about > .talked", ".about > .meta", ".about > .talk", ".state", ".came-back"]) {
    const [now, then] = [$(part), $(part, fresh)];
    if (now?.textContent === then?.textContent) continue;
    const held = now?.contains(document.activeElement);
    const summary = held && document.activeElement === $("summary", now);
    if (!now || !then || (held && !summary) || $$("textarea", now).some((area) => area.value)) {
      if (part === ".about > .talk" || part === ".came-back") offerReload();
      continue;
    }
    if (now.open) then.open = true;
    now.replaceWith(document.adoptNode(then));
    if (summary) $("summary", then).focus({ preventScroll: true });
  }
  if (panelOpen()) $(".talked").setAttribute("aria-expanded", "true");
  if (!panel?.contains(document.activeElement)) threadsChanged();
  await refreshRemarks();
}

// refreshRemarks shows new replies in threads, and new threads at their lines.
async function refreshRemarks() {
  for (const thread of $$(".thread", await part(`/review/${watched}/comments?show=all`))) {
    const id = thread.dataset.thread;
    const here = document.getElementById(id);
    if (here?.dataset.version === thread.dataset.version || !$(".file") || (here?.matches(".draft") ?? $(".tag.pending", thread))) continue;
    if (here && (here.contains(document.activeElement) || $$("textarea", here).some((area) => area.value))) {
      offerReload();
      continue;
    }
    const fresh = (await part(`/review/${watched}/remark?comment=${id}`)).querySelector(".remark");
    if (here) here.replaceWith(fresh);
    else placeRemark(fresh, document.getElementById($('[data-do="jump"]', thread).dataset.file));
  }
}

function offerReload() {
  news.replaceChildren("This page has changed. ");
  const link = document.createElement("a");
  link.href = location.pathname + location.search;
  link.textContent = "Reload";
  news.append(link);
}

// refreshList updates a list. If the list has the focus, it offers to reload instead.
async function refreshList() {
  const now = $("#main > .narrow");
  if (now.contains(document.activeElement)) return offerReload();
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  showUnshared(page);
  const fresh = $("#main > .narrow", page);
  if (fresh) now.replaceWith(document.adoptNode(fresh));
}

// A hidden page closes its connection, because browsers allow few connections to one server.
document.addEventListener("visibilitychange", () => {
  if (!watched) return;
  if (document.hidden) live?.close();
  else listen();
});

