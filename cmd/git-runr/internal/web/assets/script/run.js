
/* A run that is at work */

const now = document.getElementById("now");

// span formats a duration as the page does.
function span(seconds) {
  const [s, m, h] = [seconds % 60, Math.floor(seconds / 60) % 60, Math.floor(seconds / 3600)];
  if (h) return `${h} h ${m} min`;
  return m ? `${m} min ${s} s` : `${s} s`;
}

function tick() {
  const since = $("time", now);
  if (since) $(".for", now).textContent = span(Math.max(0, Math.floor((Date.now() - new Date(since.dateTime)) / 1000)));
}

// refreshNow shows the present step of the run, and the last lines of its agent.
async function refreshNow() {
  if (document.hidden) return;
  if (!now.firstElementChild) return $("#resumed") && refreshRun();
  const answer = await fetch(`/run/${watched}/now`).catch(() => null);
  if (!answer?.ok) return;
  if (answer.status === 204) return refreshRun();
  const fresh = elements(await answer.text());
  const what = $("h2", fresh).textContent;
  const [log, then] = [$(".log", now), $(".log", fresh)];
  if (what !== $("h2", now)?.textContent) say(what);
  if (log && then && what === $("h2", now).textContent) {
    if (log.textContent !== then.textContent && !log.contains(getSelection().focusNode)) log.textContent = then.textContent;
  } else if (!now.contains(document.activeElement)) {
    now.replaceChildren(fresh);
  }
  tick();
}

// refreshRun updates the state of a run. For a part that somebody is working in, it offers to reload instead.
async function refreshRun() {
  const answer = await fetch(location.href).catch(() => null);
  if (!answer?.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  let left = false;
  showUnshared(fresh);
  for (const part of $$("[data-part]")) {
    const then = fresh.getElementById(part.id);
    if (then && part.textContent === then.textContent) continue;
    if (part.contains(document.activeElement) || part.contains(cursor) || $("details:is(.act, .kept)[open], .editor", part)) left = true;
    else if (then) part.replaceChildren(...document.adoptNode(then).childNodes);
  }
  for (const part of $$("[data-part]", fresh)) if (!document.getElementById(part.id)) $(".review").append(document.adoptNode(part));
  if (left) offerReload();
  else news.replaceChildren();
  watchFiles();
}

if (now) setInterval(() => { tick(); refreshNow().catch(() => {}); }, 1000);

// A prompt or a transcript is loaded when it is opened.
document.addEventListener("toggle", async ({ target }) => {
  if (!target.matches("details.kept[open]") || target.dataset.loaded) return;
  target.dataset.loaded = "yes";
  target.append(...(await part($("a", target).href)).childNodes);
}, true);

// The command beside an action shows the chosen options.
document.addEventListener("change", (event) => {
  const form = event.target.dataset.flag && event.target.closest("form.act");
  if (!form) return;
  const line = $(".cmd code", form.closest(".line, li"));
  line.dataset.plain ??= line.textContent;
  const chosen = $$("[data-flag]", form).filter((f) => (f.type === "checkbox" ? f.checked : f.value));
  line.textContent = [line.dataset.plain, ...chosen.map((f) => f.dataset.flag + (f.type === "checkbox" ? "" : ` ${f.value}`))].join(" ");
});
