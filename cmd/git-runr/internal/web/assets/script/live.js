/* Live updates */

let live = null;
let missed = false;

function listen() {
  live?.close();
  live = new EventSource("/api/events");
  live.addEventListener("error", async () => (await fetch("/api/health").catch(() => null)) ?? serverAway());
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
  changing = setTimeout(watched === "*" ? refreshList : now ? refreshRun : reviewID ? refreshHead : offerReload, 300);
}

// refreshHead brings up to date what stands above the change. What was said of it since is
// offered: whoever writes is not interrupted.
async function refreshHead() {
  const answer = await fetch(location.pathname).catch(() => null);
  if (!answer?.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of [".head > .pill", ".head > .actions", ".about > .handed", ".about > .talked", ".about > .meta"]) {
    const [now, then] = [$(part), $(part, fresh)];
    if (now && then && !now.contains(document.activeElement)) now.replaceWith(document.adoptNode(then));
  }
  if (panelOpen()) $(".talked").setAttribute("aria-expanded", "true");
  if (!panel?.contains(document.activeElement)) threadsChanged();
  if ($(".talk > summary", fresh)?.textContent !== $(".talk > summary")?.textContent) offerReload();
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
  if (missed && (now || watched === "*")) changed();
});

